/** @file The help sheet: rules in a sentence, colours, keys. */

import { h, icon } from "./dom.js";
import { gameName } from "./names.js";
import { known, t } from "./words.js";

/** Keys and what they do, as names of the catalogue; app.js acts on them. @type {[string[], string][]} */
const KEYS = [
  [["←", "↑", "↓", "→"], "key.arrows"],
  [["⇧", "←"], "key.shift-arrows"],
  [["Enter"], "key.enter"],
  [["b"], "key.board"],
  [["n"], "do.new"],
  [["u"], "do.undo"],
  [["h"], "do.hint"],
  [["p"], "do.pass"],
  [["a"], "do.analyse"],
  [["r"], "do.review"],
  [["m", "M"], "key.mistakes"],
  [["[", "]"], "key.step"],
  [["Home", "End"], "key.ends"],
  [["l"], "do.link"],
  [["o"], "do.load"],
  [["d"], "page.dark"],
  [["?"], "page.help"],
];

/** @param {HTMLDialogElement} dialog @param {import("./names.js").Game} game @param {boolean} docs whether the server has the rules' pages */
export function helpDialog(dialog, game, docs) {
  dialog.setAttribute("aria-labelledby", "help-title");
  dialog.replaceChildren(
    h(
      "div",
      { class: "sheet" },
      h("header", {}, h("h2", { id: "help-title" }, t("help.title")), h("button", { type: "button", class: "round", "aria-label": t("page.close"), onclick: () => dialog.close() }, icon("close"))),
      h(
        "div",
        { class: "body" },
        h("h3", {}, `${gameName(game)} · ${t("help.rules")}`),
        known(`about.${game.family}`) && h("p", {}, t(`about.${game.family}`)),
        docs && h("p", {}, h("a", { href: `/docs/games/${game.family}.md`, target: "_blank", rel: "noopener" }, t("help.page"))),
        h("h3", {}, t("help.colours")),
        h("p", { class: "swatches" }, ...[1, 2, 3, 4, 5].map((number) => h("span", { class: `swatch shade-${number}` }))),
        h("p", {}, t("help.colours-about")),
        h("h3", {}, t("help.keys")),
        h("dl", { class: "keys" }, ...KEYS.map(([keys, what]) => h("div", {}, h("dt", {}, ...keys.map((key) => h("kbd", {}, key))), h("dd", {}, t(what))))),
      ),
    ),
  );
  dialog.showModal();
}
