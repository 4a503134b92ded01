/** @file The panel of the review: how accurate both were, and where the game turned. */

import { h } from "./dom.js";
import { moveName, sideName } from "./names.js";
import { t } from "./words.js";

/**
 * @typedef {object} Judged
 * @property {number} ply
 * @property {number} node
 * @property {number} action
 * @property {string} text
 * @property {number} best
 * @property {string} best_text
 * @property {number} loss
 * @property {boolean} exact
 * @property {string} verdict
 */

/**
 * @typedef {object} Review
 * @property {[number, number]} progress
 * @property {(number | null)[]} values
 * @property {Judged[]} moves
 * @property {[number | null, number | null]} accuracy
 * @property {boolean} done
 */

const BAD = ["inaccuracy", "mistake", "blunder", "gives"];

/** The mistakes, the worst first. @param {Review | null} review */
export function mistakes(review) {
  return (review?.moves ?? []).filter((move) => BAD.includes(move.verdict)).sort((a, b) => b.loss - a.loss || a.ply - b.ply);
}

/**
 * @param {HTMLElement} host
 * @param {object} shown
 * @param {Review | null} shown.review
 * @param {import("./names.js").Game} shown.game
 * @param {(node: number) => 0 | 1} shown.mover who made that move
 * @param {number} shown.node where the board stands
 * @param {boolean} shown.ready whether there is a move to review
 * @param {object} hooks
 * @param {() => void} hooks.start
 * @param {() => void} hooks.stop
 * @param {(move: Judged) => void} hooks.show
 * @param {() => void} hooks.next
 */
export function reviewPanel(host, { review, game, mover, node, ready }, hooks) {
  if (!review) {
    host.replaceChildren(
      h("p", { class: "faint" }, t("review.about")),
      h("button", { type: "button", class: "primary", id: "review-start", disabled: !ready, onclick: hooks.start }, t("review.start")),
    );
    return;
  }
  const focused = document.activeElement instanceof HTMLElement && host.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const parts = [];
  if (!review.done) {
    const [done, total] = review.progress;
    const bar = h("progress", { max: total, value: done, "aria-label": t("tab.review") });
    parts.push(
      h("div", { class: "going" }, h("span", {}, t("review.going", { done, total })), h("button", { type: "button", class: "quiet", "data-key": "stop", onclick: hooks.stop }, t("review.stop"))),
      bar,
    );
  }
  parts.push(
    h(
      "div",
      { class: "accuracies" },
      ...[0, 1].map((side) => {
        const accuracy = review.accuracy[side];
        return h(
          "div",
          { class: "accuracy" },
          h("span", { class: `pip ${game.look} ${side === 0 ? "first" : "second"}` }),
          h("span", {}, sideName(game, side)),
          h("strong", {}, accuracy === null || accuracy === undefined ? "–" : `${Math.round(accuracy)}%`),
          h("small", {}, t("review.accuracy")),
        );
      }),
    ),
  );
  const bad = mistakes(review);
  if (bad.length) {
    parts.push(
      h(
        "div",
        { class: "going" },
        h("h2", {}, t("review.mistakes")),
        h("button", { type: "button", class: "quiet", "data-key": "next", onclick: hooks.next }, t("review.next"), " ", h("kbd", {}, "m")),
      ),
      h(
        "ol",
        { class: "mistakes" },
        ...bad.map((move) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: `mistake ${move.verdict} ${move.node === node ? "here" : ""}`, "data-key": `m${move.ply}`, onclick: () => hooks.show(move) },
              h("span", { class: "ply" }, move.ply),
              h("span", { class: `pip ${game.look} ${mover(move.node) === 0 ? "first" : "second"}` }),
              h("span", {}, h("strong", {}, moveName(move.text)), ` ${t(`verdict.${move.verdict}`)}`),
              h("span", { class: "cost" }, `−${Math.round(50 * move.loss)}`),
              h("span", { class: "better" }, t("review.better", { move: moveName(move.best_text) }), " ", move.exact && h("span", { class: "badge", title: t("review.exact-about") }, t("review.exact"))),
            ),
          ),
        ),
      ),
    );
  } else if (review.done) {
    parts.push(h("p", { class: "faint" }, t("review.clean")));
  }
  host.replaceChildren(...parts);
  if (focused) /** @type {HTMLElement | null} */ (host.querySelector(`[data-key="${focused}"]`))?.focus();
}
