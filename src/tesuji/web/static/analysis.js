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
 * @property {number | null} proven
 */

/**
 * @typedef {object} Analysis
 * @property {number} node
 * @property {number} value
 * @property {number} visits
 * @property {number | null} proven the result, where it is certain
 * @property {Candidate[]} candidates
 * @property {number[] | null} ownership
 * @property {[number, number][] | null} policy
 * @property {boolean} done
 */

/** What the overlay shows; the visitor's choice. @typedef {{candidates: boolean, policy: boolean, ownership: boolean}} Layers */

/**
 * @typedef {object} Shown
 * @property {boolean} on
 * @property {Analysis | null} analysis
 * @property {Layers} layers
 * @property {boolean} owned whether the game has owners
 * @property {number} mover
 * @property {string[]} texts of the game's actions
 */

/**
 * @typedef {object} Hooks
 * @property {(on: boolean) => void} turn
 * @property {(layers: Layers) => void} layers
 * @property {(candidate: Candidate | null) => void} look
 * @property {(action: number) => void} play
 */

const ROWS = 8;

/** News comes several times a second: rows stay where they are and change their texts, so that they can be pressed. */
export class AnalysisPanel {
  /** @type {{row: HTMLTableRowElement, button: HTMLButtonElement, cells: HTMLElement[], share: HTMLElement}[]} */ #rows = [];
  /** @type {Candidate[]} */ #candidates = [];
  /** @type {number | null} the row under the pointer or the focus */ #looked = null;
  /** @type {Layers} */ #layers = { candidates: true, policy: false, ownership: true };

  /** @param {HTMLElement} host @param {Hooks} hooks */
  constructor(host, hooks) {
    this.hooks = hooks;
    this.on = this.#toggle((checked) => hooks.turn(checked));
    this.layers = {
      candidates: this.#toggle((candidates) => hooks.layers({ ...this.#layers, candidates })),
      policy: this.#toggle((policy) => hooks.layers({ ...this.#layers, policy })),
      ownership: this.#toggle((ownership) => hooks.layers({ ...this.#layers, ownership })),
    };
    this.chips = h("div", { class: "chips" }, this.layers.candidates.label, this.layers.policy.label, this.layers.ownership.label);
    this.off = h("p", { class: "faint" });
    this.value = h("strong", {});
    this.visits = h("span", {});
    this.proven = h("span", { class: "badge" });
    this.facts = h("p", { class: "facts" }, this.value, this.visits, this.proven);
    this.heads = ["move", "value", "loss", "share", "line"].map((key) => ({ key, cell: h("th", { scope: "col" }) }));
    const body = h("tbody", {});
    for (let place = 0; place < ROWS; place++) {
      const button = h("button", { type: "button", onclick: () => hooks.play(this.#candidates[place].action), onfocus: () => this.#look(place), onblur: () => this.#look(null) });
      const cells = [h("td", {}), h("td", {}), h("td", { class: "line" })];
      const share = h("span", { class: "share" });
      const row = h("tr", { onpointerenter: () => this.#look(place) }, h("th", { scope: "row" }, button), cells[0], cells[1], h("td", {}, share), cells[2]);
      this.#rows.push({ row, button, cells, share });
      body.append(row);
    }
    this.table = h("table", { class: "candidates", onpointerleave: () => this.#look(null) }, h("thead", {}, h("tr", {}, ...this.heads.map((head) => head.cell))), body);
    host.replaceChildren(h("div", { class: "toggles" }, this.on.label, this.chips), this.off, this.facts, this.table);
  }

  /** @param {(checked: boolean) => void} change */
  #toggle(change) {
    const input = h("input", { type: "checkbox", role: "switch", onchange: () => change(input.checked) });
    const name = h("span", {});
    return { input, name, label: h("label", { class: "toggle" }, input, name) };
  }

  /** @param {number | null} place */
  #look(place) {
    this.#looked = place;
    this.hooks.look(place === null ? null : (this.#candidates[place] ?? null));
  }

  /** @param {Shown} shown */
  show({ on, analysis, layers, owned, mover, texts }) {
    this.#layers = layers;
    this.#candidates = analysis?.candidates.slice(0, ROWS) ?? [];
    this.on.name.textContent = t("analysis.on");
    this.on.input.checked = on;
    for (const key of /** @type {const} */ (["candidates", "policy", "ownership"])) {
      this.layers[key].name.textContent = t(`analysis.${key}`);
      this.layers[key].input.checked = layers[key];
    }
    this.layers.ownership.label.hidden = !owned;
    this.chips.hidden = !on;
    this.off.hidden = on;
    this.off.textContent = t("analysis.off");
    this.facts.hidden = this.table.hidden = !on || !analysis;
    if (!analysis) return;
    this.value.textContent = `${percent(analysis.value, mover)}%`;
    this.visits.textContent = t("analysis.visits", { count: short(analysis.visits) });
    this.proven.textContent = t("analysis.proven");
    this.proven.hidden = analysis.proven === null;
    for (const { key, cell } of this.heads) cell.textContent = t(`analysis.${key}`);
    const most = Math.max(1, ...this.#candidates.map((candidate) => candidate.visits));
    this.#rows.forEach(({ row, button, cells, share }, place) => {
      const candidate = this.#candidates[place];
      row.hidden = !candidate;
      if (!candidate) return;
      row.className = `shade-${shade(candidate.loss)}`;
      button.textContent = moveName(texts[candidate.action]);
      cells[0].textContent = `${percent(candidate.value, mover)}%`;
      cells[1].textContent = candidate.loss < 0.01 ? "·" : `−${Math.round(50 * candidate.loss)}`;
      cells[2].textContent = candidate.line.slice(1, 6).map(moveName).join(" ");
      share.style.setProperty("--share", String(candidate.visits / most));
    });
    if (this.#looked !== null) this.hooks.look(this.#candidates[this.#looked] ?? null);
  }
}
