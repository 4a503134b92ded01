/** @file The panel of the analysis: switches, candidates, their lines. */

import { shade } from "./board.js";
import { h } from "./dom.js";
import { moveName, percent, short } from "./names.js";
import { t } from "./words.js";

/**
 * @typedef {object} Candidate
 * @property {number} action
 * @property {number} visits
 * @property {number} value for First
 * @property {number} loss for the mover, 0 is best
 * @property {number} prior
 * @property {string[]} line
 * @property {number[]} actions
 * @property {boolean | number | null} proven
 */

/**
 * @typedef {object} Analysis
 * @property {number} node
 * @property {number} value
 * @property {number} visits
 * @property {boolean | number | null} proven
 * @property {Candidate[]} candidates
 * @property {number[] | null} ownership
 * @property {[number, number][] | null} policy
 * @property {boolean} done
 */

/** What the overlay shows; the visitor's choice. @typedef {{candidates: boolean, policy: boolean, ownership: boolean}} Layers */

const ROWS = 8;

/**
 * @param {HTMLElement} host
 * @param {object} shown
 * @param {boolean} shown.on
 * @param {Analysis | null} shown.analysis
 * @param {Layers} shown.layers
 * @param {boolean} shown.owned whether the game has owners
 * @param {number} shown.mover
 * @param {string[]} shown.texts of the game's actions
 * @param {object} hooks
 * @param {(on: boolean) => void} hooks.turn
 * @param {(layers: Layers) => void} hooks.layers
 * @param {(candidate: Candidate | null) => void} hooks.look
 * @param {(action: number) => void} hooks.play
 */
export function analysisPanel(host, { on, analysis, layers, owned, mover, texts }, hooks) {
  const focused = document.activeElement instanceof HTMLElement && host.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  /** @param {string} key @param {string} name @param {boolean} checked @param {(checked: boolean) => void} change */
  const toggle = (key, name, checked, change) =>
    h(
      "label",
      { class: "toggle" },
      h("input", { type: "checkbox", role: "switch", "data-key": key, checked, onchange: (/** @type {Event} */ event) => change(/** @type {HTMLInputElement} */ (event.target).checked) }),
      h("span", {}, name),
    );
  const parts = [h("div", { class: "toggles" }, toggle("on", t("analysis.on"), on, hooks.turn))];
  if (!on) {
    parts.push(h("p", { class: "faint" }, t("analysis.off")));
  } else {
    parts[0].append(
      h(
        "div",
        { class: "chips" },
        toggle("candidates", t("analysis.candidates"), layers.candidates, (candidates) => hooks.layers({ ...layers, candidates })),
        toggle("policy", t("analysis.policy"), layers.policy, (policy) => hooks.layers({ ...layers, policy })),
        owned && toggle("ownership", t("analysis.ownership"), layers.ownership, (ownership) => hooks.layers({ ...layers, ownership })),
      ),
    );
    if (analysis) {
      const most = Math.max(1, ...analysis.candidates.map((candidate) => candidate.visits));
      parts.push(
        h(
          "p",
          { class: "facts" },
          h("strong", {}, `${percent(analysis.value, mover)}%`),
          h("span", {}, t("analysis.visits", { count: short(analysis.visits) })),
          isProven(analysis) && h("span", { class: "badge" }, t("analysis.proven")),
        ),
        h(
          "table",
          { class: "candidates", onpointerleave: () => hooks.look(null) },
          h("thead", {}, h("tr", {}, ...["move", "value", "loss", "share", "line"].map((key) => h("th", { scope: "col" }, t(`analysis.${key}`))))),
          h(
            "tbody",
            {},
            ...analysis.candidates.slice(0, ROWS).map((candidate) => {
              const share = h("span", { class: "share" });
              share.style.setProperty("--share", String(candidate.visits / most));
              return h(
                "tr",
                { class: `shade-${shade(candidate.loss)}`, onpointerenter: () => hooks.look(candidate) },
                h(
                  "th",
                  { scope: "row" },
                  h(
                    "button",
                    { type: "button", "data-key": `c${candidate.action}`, onclick: () => hooks.play(candidate.action), onfocus: () => hooks.look(candidate), onblur: () => hooks.look(null) },
                    moveName(texts[candidate.action]),
                  ),
                ),
                h("td", {}, `${percent(candidate.value, mover)}%`),
                h("td", { class: "loss" }, candidate.loss < 0.005 ? "·" : `−${Math.round(50 * candidate.loss)}`),
                h("td", {}, share),
                h("td", { class: "line" }, candidate.line.slice(1, 6).map(moveName).join(" ")),
              );
            }),
          ),
        ),
      );
    }
  }
  host.replaceChildren(...parts);
  if (focused) /** @type {HTMLElement | null} */ (host.querySelector(`[data-key="${focused}"]`))?.focus();
}

/** @param {{proven: boolean | number | null}} thing */
function isProven(thing) {
  return thing.proven !== null && thing.proven !== false && thing.proven !== undefined;
}
