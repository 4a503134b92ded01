/** @file The list of moves with their variations. */

import { h } from "./dom.js";
import { moveName } from "./names.js";
import { t } from "./words.js";

/** @typedef {{node: number, parent: number | null, action: number, text: string, mover: 0 | 1}} TreeNode */

/**
 * @param {HTMLElement} host
 * @param {object} shown
 * @param {TreeNode[]} shown.tree
 * @param {number} shown.node where the board stands
 * @param {string} shown.look
 * @param {Map<number, string>} shown.verdicts by node
 * @param {(node: number) => void} go
 */
export function moveList(host, { tree, node: here, look, verdicts }, go) {
  /** @type {Map<number | null, TreeNode[]>} */
  const children = new Map();
  for (const entry of tree) {
    if (entry.parent !== null) children.set(entry.parent, [...(children.get(entry.parent) ?? []), entry]);
  }
  const root = tree.find((entry) => entry.parent === null);

  /** @param {TreeNode} entry @param {number} ply */
  const button = (entry, ply) => {
    const verdict = verdicts.get(entry.node);
    return h(
      "button",
      {
        type: "button",
        class: `move ${entry.node === here ? "here" : ""} ${verdict ?? ""}`,
        "aria-current": entry.node === here ? "step" : null,
        "aria-label": `${t("moves.ply", { ply })}: ${moveName(entry.text)}${verdict ? `, ${t(`verdict.${verdict}`)}` : ""}`,
        "data-node": entry.node,
        onclick: () => go(entry.node),
      },
      h("span", { class: "ply" }, ply),
      h("span", { class: `pip ${look} ${entry.mover === 0 ? "first" : "second"}` }),
      h("span", { class: "text" }, moveName(entry.text)),
      verdict && h("span", { class: "sign" }, { inaccuracy: "?!", mistake: "?", blunder: "??", gives: "??" }[verdict] ?? ""),
    );
  };

  /** The first of the moves that follow and all behind it; the others as variations below. @param {TreeNode[]} following @param {number} ply @param {HTMLElement} into */
  const line = (following, ply, into) => {
    for (; following.length; ply++) {
      const [main, ...others] = following;
      into.append(button(main, ply));
      for (const other of others) {
        const variation = h("div", { class: "variation" });
        line([other], ply, variation);
        into.append(variation);
      }
      following = children.get(main.node) ?? [];
    }
  };

  const list = h("div", { class: "moves" });
  if (root) line(children.get(root.node) ?? [], 1, list);
  if (!list.childElementCount) list.append(h("p", { class: "faint" }, t("moves.none")));
  host.replaceChildren(list);
  const current = list.querySelector(".here");
  if (current instanceof HTMLElement) {
    // Scrolls the list alone, never the page.
    const [top, bottom] = [current.offsetTop, current.offsetTop + current.offsetHeight];
    if (top < host.scrollTop) host.scrollTop = top - 8;
    else if (bottom > host.scrollTop + host.clientHeight) host.scrollTop = bottom - host.clientHeight + 8;
  } else {
    host.scrollTop = 0;
  }
}
