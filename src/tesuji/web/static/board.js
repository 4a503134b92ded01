/**
 * @file A board that knows no rules: glyphs in, clicks out, overlays as maps.
 *
 * Three looks: stones on crossings, marks in cells (of small boards), edges between dots. Where things lie is in
 * one class a look; everything else is common to them.
 */

import { svg } from "./dom.js";

/**
 * What a board needs to know of a game; the server's welcome says it.
 * @typedef {object} Shape
 * @property {number} rows
 * @property {number} cols
 * @property {"crossings" | "cells" | "edges"} look
 * @property {number} block
 * @property {(number | null)[]} cells cell of each action
 * @property {string[]} texts text of each action
 */

/**
 * What stands on a board.
 * @typedef {object} View
 * @property {string[]} glyphs a text a row: X First's, O Second's, - and | drawn edges
 * @property {number[]} legal
 * @property {0 | 1} mover
 * @property {boolean} open whether a person may play now
 * @property {number | null} [last]
 * @property {number[] | null} [owners] of each cell: 1, −1, 0
 * @property {number[]} [line] cells that won
 * @property {Map<number, 0 | 1>} [drawn] who played an action (the colour of edges)
 */

/**
 * What is laid over it.
 * @typedef {object} Overlay
 * @property {{action: number, size: number, loss: number, label: string, best: boolean}[]} [candidates] size in [0, 1]
 * @property {[number, number][]} [policy] actions with their shares
 * @property {number[] | null} [ownership] of each cell, in [−1, 1]
 * @property {number[]} [sequence] actions shown as numbered ghosts
 * @property {number | null} [hint]
 * @property {{action: number, kind: string} | null} [judged] the last move, with its verdict
 */

/**
 * @typedef {object} Hooks
 * @property {(action: number) => void} play
 * @property {(action: number | null) => void} [choose] a tap that waits for a second one
 * @property {(action: number | null) => void} [look] the pointer or the focus is on this action
 * @property {(text: string, glyph: string, legal: boolean) => string} [name] the accessible name
 */

const UNIT = 40;
const SIDES = ["first", "second"];

/** How bad a loss is, from 0 (none) to 4: the classes of colours. @param {number} loss */
export function shade(loss) {
  return [0.02, 0.08, 0.2, 0.5].findIndex((limit) => loss < limit) + 1 || 5;
}

// ── Where things lie ──

/** Stones on crossings. */
class Crossings {
  /** @param {Shape} shape @param {boolean} bare without coordinates */
  constructor(shape, bare) {
    this.shape = shape;
    const margin = bare ? 24 : 42;
    const { rows, cols } = shape;
    this.box = [-margin, -margin, (cols - 1) * UNIT + 2 * margin, (rows - 1) * UNIT + 2 * margin];
    this.reach = 19;
  }

  /** @param {number} cell @returns {[number, number]} */
  at(cell) {
    return [(cell % this.shape.cols) * UNIT, Math.floor(cell / this.shape.cols) * UNIT];
  }

  ground() {
    const { rows, cols } = this.shape;
    const [x, y, width, height] = this.box;
    const right = (cols - 1) * UNIT;
    const bottom = (rows - 1) * UNIT;
    let lines = "";
    for (let row = 0; row < rows; row++) lines += `M0 ${row * UNIT}H${right}`;
    for (let col = 0; col < cols; col++) lines += `M${col * UNIT} 0V${bottom}`;
    let grain = "";
    for (let at = 9; at < height; at += 17) {
      const sway = 5 * Math.sin(at / 23);
      grain += `M${x} ${y + at}q${width / 4} ${sway} ${width / 2} 0t${width / 2} ${sway / 2}`;
    }
    return svg(
      "g",
      {},
      svg("rect", { class: "wood", x, y, width, height }),
      svg("path", { class: "grain", d: grain }),
      svg("path", { class: "grid", d: lines }),
      svg("rect", { class: "frame", x: 0, y: 0, width: right, height: bottom }),
      ...this.hoshi().map(([col, row]) => svg("circle", { class: "hoshi", cx: col * UNIT, cy: row * UNIT, r: 3.6 })),
    );
  }

  /** The marked points of a square board, as people draw them. @returns {[number, number][]} */
  hoshi() {
    const { rows, cols } = this.shape;
    if (rows !== cols || rows < 8) return [];
    const edge = rows < 13 ? 2 : 3;
    const middle = (rows - 1) / 2;
    const lines = rows % 2 ? [edge, middle, rows - 1 - edge] : [edge, rows - 1 - edge];
    /** @type {[number, number][]} */
    const points = lines.flatMap((row) => lines.map((col) => /** @type {[number, number]} */ ([col, row])));
    // Sides only on the full board.
    return points.filter(([col, row]) => rows > 15 || (col === middle) === (row === middle));
  }

  coordinates() {
    return letters(this.shape, (col) => col * UNIT, (row) => row * UNIT, 29);
  }

  /** @param {number} cell */
  hit(cell) {
    const [x, y] = this.at(cell);
    return svg("rect", { class: "hit", x: x - UNIT / 2, y: y - UNIT / 2, width: UNIT, height: UNIT });
  }

  /** @param {number} cell */
  ring(cell) {
    const [cx, cy] = this.at(cell);
    return svg("circle", { class: "ring", cx, cy, r: 17 });
  }

  /** @param {number} cell @param {string} glyph */
  piece(cell, glyph) {
    const [x, y] = this.at(cell);
    const side = SIDES["XO".indexOf(glyph)];
    return svg(
      "g",
      { class: `piece stone ${side}`, transform: `translate(${x} ${y})` },
      svg("circle", { class: "shadow", cx: 1.2, cy: 2.4, r: 19.4 }),
      svg("circle", { class: "body", r: 18.2 }),
    );
  }

  /** @param {number} cell @param {string} glyph */
  mark(cell, glyph) {
    const [cx, cy] = this.at(cell);
    return svg("circle", { class: `last ${glyph === "X" ? "first" : "second"}`, cx, cy, r: 8 });
  }

  /** @param {number} cell @param {number} value */
  owned(cell, value) {
    const [x, y] = this.at(cell);
    const half = 4 + 5 * Math.abs(value);
    return svg("rect", { class: `owned ${SIDES[value > 0 ? 0 : 1]}`, x: x - half, y: y - half, width: 2 * half, height: 2 * half, rx: 2 });
  }
}

/** Marks in cells, in small boards where the game has them. */
class Cells {
  /** @param {Shape} shape @param {boolean} bare */
  constructor(shape, bare) {
    this.shape = shape;
    this.block = shape.block || Math.max(shape.rows, shape.cols);
    const margin = bare ? 10 : 30;
    this.right = this.lane(shape.cols - 1) + UNIT;
    this.bottom = this.lane(shape.rows - 1) + UNIT;
    this.box = [-margin, bare ? -margin : -12, this.right + (bare ? 2 * margin : margin + 12), this.bottom + (bare ? 2 * margin : margin + 12)];
    this.reach = 19;
  }

  /** @param {number} index of a row or column */
  lane(index) {
    return index * UNIT + Math.floor(index / this.block) * 12;
  }

  /** The middle of a cell. @param {number} cell @returns {[number, number]} */
  at(cell) {
    const { cols } = this.shape;
    return [this.lane(cell % cols) + UNIT / 2, this.lane(Math.floor(cell / cols)) + UNIT / 2];
  }

  /** The small boards: the cells of each. */
  blocks() {
    /** @type {Map<string, number[]>} */
    const blocks = new Map();
    const { rows, cols } = this.shape;
    for (let cell = 0; cell < rows * cols; cell++) {
      const key = `${Math.floor(cell / cols / this.block)} ${Math.floor((cell % cols) / this.block)}`;
      blocks.set(key, [...(blocks.get(key) ?? []), cell]);
    }
    return [...blocks.values()];
  }

  /** @param {number[]} cells of a small board */
  frame(cells) {
    const [x, y] = this.at(cells[0]);
    const [right, bottom] = this.at(cells[cells.length - 1]);
    return { x: x - UNIT / 2, y: y - UNIT / 2, width: right - x + UNIT, height: bottom - y + UNIT };
  }

  ground() {
    const [x, y, width, height] = this.box;
    const ground = svg("g", {}, svg("rect", { class: "desk", x, y, width, height }));
    for (const cells of this.blocks()) {
      const frame = this.frame(cells);
      let lines = "";
      for (let step = UNIT; step < frame.width; step += UNIT) lines += `M${frame.x + step} ${frame.y + 5}v${frame.height - 10}`;
      for (let step = UNIT; step < frame.height; step += UNIT) lines += `M${frame.x + 5} ${frame.y + step}h${frame.width - 10}`;
      ground.append(svg("g", { class: "block", "data-cell": cells[0] }, svg("rect", { ...frame, rx: 7 }), svg("path", { d: lines })));
    }
    return ground;
  }

  coordinates() {
    return letters(this.shape, (col) => this.lane(col) + UNIT / 2, (row) => this.lane(row) + UNIT / 2, 15, this.bottom);
  }

  /** @param {number} cell */
  hit(cell) {
    const [x, y] = this.at(cell);
    return svg("rect", { class: "hit", x: x - UNIT / 2, y: y - UNIT / 2, width: UNIT, height: UNIT });
  }

  /** @param {number} cell */
  ring(cell) {
    const [x, y] = this.at(cell);
    return svg("rect", { class: "ring", x: x - 17.5, y: y - 17.5, width: 35, height: 35, rx: 6 });
  }

  /** @param {number} cell @param {string} glyph */
  piece(cell, glyph) {
    return cross(...this.at(cell), 10, glyph);
  }

  /** @param {number} cell */
  mark(cell) {
    const [x, y] = this.at(cell);
    return svg("rect", { class: "last", x: x - 18, y: y - 18, width: 36, height: 36, rx: 6 });
  }

  /** @param {number} cell @param {number} value */
  owned(cell, value) {
    const { cols } = this.shape;
    const corner = cell % cols % this.block === 0 && Math.floor(cell / cols) % this.block === 0;
    const cells = this.blocks().find((block) => block[0] === cell);
    return corner && cells ? svg("rect", { class: `owned ${SIDES[value > 0 ? 0 : 1]}`, ...this.frame(cells), rx: 7 }) : null;
  }
}

/** Edges between dots: cells with both coordinates even are dots, with both odd boxes. */
class Edges {
  /** @param {Shape} shape @param {boolean} bare */
  constructor(shape, bare) {
    this.shape = shape;
    const margin = bare ? 16 : 30;
    this.box = [-margin, -margin, (shape.cols - 1) * UNIT + 2 * margin, (shape.rows - 1) * UNIT + 2 * margin];
    this.reach = 19;
  }

  /** @param {number} cell @returns {[number, number]} */
  at(cell) {
    return [(cell % this.shape.cols) * UNIT, Math.floor(cell / this.shape.cols) * UNIT];
  }

  /** @param {number} cell */
  flat(cell) {
    return Math.floor(cell / this.shape.cols) % 2 === 0;
  }

  ground() {
    const [x, y, width, height] = this.box;
    const { rows, cols, cells } = this.shape;
    const ground = svg("g", {}, svg("rect", { class: "desk", x, y, width, height }));
    for (const cell of cells) if (cell !== null) ground.append(svg("path", { class: "guide", d: this.path(cell) }));
    return ground;
  }

  /** Lies above the pieces: lines end under their dots. */
  coordinates() {
    const { rows, cols } = this.shape;
    const dots = svg("g", {});
    for (let row = 0; row < rows; row += 2) {
      for (let col = 0; col < cols; col += 2) dots.append(svg("circle", { class: "dot", cx: col * UNIT, cy: row * UNIT, r: 6.5 }));
    }
    return dots;
  }

  /** @param {number} cell @param {number} [inset] */
  path(cell, inset = 0) {
    const [x, y] = this.at(cell);
    const length = 2 * (UNIT - inset);
    return this.flat(cell) ? `M${x - UNIT + inset} ${y}h${length}` : `M${x} ${y - UNIT + inset}v${length}`;
  }

  /** The rhombus between two dots and the middles of the boxes beside: together they leave no gap. @param {number} cell */
  hit(cell) {
    const [x, y] = this.at(cell);
    return svg("path", { class: "hit", d: `M${x - UNIT} ${y}L${x} ${y - UNIT}L${x + UNIT} ${y}L${x} ${y + UNIT}Z` });
  }

  /** @param {number} cell */
  ring(cell) {
    const [x, y] = this.at(cell);
    const [long, short] = [UNIT - 4, 11];
    const [wide, high] = this.flat(cell) ? [long, short] : [short, long];
    return svg("rect", { class: "ring", x: x - wide, y: y - high, width: 2 * wide, height: 2 * high, rx: 11 });
  }

  /** @param {number} cell @param {string} glyph @param {0 | 1} [by] */
  piece(cell, glyph, by) {
    if (glyph === "-" || glyph === "|") {
      return svg("path", { class: `piece edge ${by === undefined ? "" : SIDES[by]}`, d: this.path(cell) });
    }
    const [x, y] = this.at(cell);
    const side = SIDES["XO".indexOf(glyph)];
    return svg(
      "g",
      { class: `piece box ${side}` },
      svg("rect", { x: x - 34, y: y - 34, width: 68, height: 68, rx: 7 }),
      cross(x, y, 11, glyph),
    );
  }

  /** @param {number} cell */
  mark(cell) {
    return svg("path", { class: "last", d: this.path(cell, 9) });
  }

  /** @param {number} cell @param {number} value */
  owned(cell, value) {
    const [x, y] = this.at(cell);
    return svg("rect", { class: `owned ${SIDES[value > 0 ? 0 : 1]}`, x: x - 34, y: y - 34, width: 68, height: 68, rx: 7 });
  }
}

const LOOKS = { crossings: Crossings, cells: Cells, edges: Edges };

/** X or O as lines, so that both have one weight. @param {number} x @param {number} y @param {number} half @param {string} glyph */
function cross(x, y, half, glyph) {
  const first = glyph === "X";
  const shape = first
    ? svg("path", { d: `M${x - half} ${y - half}l${2 * half} ${2 * half}m0 ${-2 * half}l${-2 * half} ${2 * half}` })
    : svg("circle", { cx: x, cy: y, r: half * 1.06 });
  return svg("g", { class: `piece mark ${SIDES[first ? 0 : 1]}` }, shape);
}

/**
 * Letters under the columns and numbers beside the rows, taken from the moves' own texts.
 * @param {Shape} shape @param {(col: number) => number} x @param {(row: number) => number} y @param {number} away
 * @param {number} [bottom]
 */
function letters(shape, x, y, away, bottom) {
  // About one size on the screen, whatever the board's.
  const size = 12.5 * Math.max(0.6, Math.min(1.3, Math.max(shape.rows, shape.cols) / 9));
  const group = svg("g", { class: "coordinates", "aria-hidden": "true", "font-size": size.toFixed(1) });
  /** @type {Map<number, string>} */
  const texts = new Map();
  shape.cells.forEach((cell, action) => cell !== null && texts.set(cell, shape.texts[action]));
  const low = (bottom ?? (shape.rows - 1) * UNIT) + away;
  for (let col = 0; col < shape.cols; col++) {
    const text = /^[a-z]+/i.exec(texts.get((shape.rows - 1) * shape.cols + col) ?? "");
    if (text) group.append(svg("text", { x: x(col), y: low + size / 3 }, text[0]));
  }
  for (let row = 0; row < shape.rows; row++) {
    const text = /\d+$/.exec(texts.get(row * shape.cols) ?? "");
    if (text) group.append(svg("text", { x: -away, y: y(row) + size / 3 }, text[0]));
  }
  return group;
}

// ── Colours that are gradients: one set for all boards of a page ──

function shareGradients() {
  if (document.getElementById("board-gradients")) return;
  /** @param {string} id @param {string} where */
  const round = (id, where) =>
    svg(
      "radialGradient",
      { id, cx: where, cy: where, r: "75%" },
      ...["near", "mid", "far"].map((stop, number) => svg("stop", { class: `${id}-${stop}`, offset: `${number * 50}%` })),
    );
  document.body.append(
    svg(
      "svg",
      { id: "board-gradients", width: 0, height: 0, "aria-hidden": "true", class: "gradients" },
      svg(
        "defs",
        {},
        round("stone-first", "34%"),
        round("stone-second", "34%"),
        svg("radialGradient", { id: "stone-shadow" }, svg("stop", { class: "shade-in", offset: "70%" }), svg("stop", { class: "shade-out", offset: "100%" })),
        svg("linearGradient", { id: "wood", x2: "1", y2: "1" }, svg("stop", { class: "wood-near" }), svg("stop", { class: "wood-far", offset: "100%" })),
      ),
    ),
  );
}

// ── The board ──

export class Board {
  /** @type {Shape | null} */ #shape = null;
  /** @type {Crossings | Cells | Edges | null} */ #layout = null;
  /** @type {View | null} */ #view = null;
  /** @type {Overlay} */ #overlay = {};
  /** @type {Map<number, SVGElement>} by action */ #spots = new Map();
  /** @type {Map<number, {key: string, element: SVGElement}>} by cell */ #pieces = new Map();
  /** @type {Map<number, number>} cell → action */ #actions = new Map();
  /** @type {Set<number>} */ #legal = new Set();
  /** @type {Record<string, SVGElement>} */ #layers = {};
  /** @type {number | null} */ #chosen = null;
  /** @type {number | null} */ #hovered = null;
  /** @type {number | null} */ #cursor = null;
  #touched = false;

  /**
   * @param {HTMLElement} host
   * @param {Hooks | null} hooks without them it is a picture
   */
  constructor(host, hooks = null) {
    shareGradients();
    this.host = host;
    this.hooks = hooks;
    this.svg = svg("svg", { class: "goban" });
    host.replaceChildren(this.svg);
    if (hooks) this.#listen();
  }

  /** Whether a tap must be confirmed: fingers hide what they touch, and small screens ask for care. */
  get careful() {
    return this.#touched || matchMedia("(max-width: 600px)").matches;
  }

  get chosen() {
    return this.#chosen;
  }

  /** @param {Shape} shape @param {string} label */
  set(shape, label) {
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#layout = new LOOKS[shape.look](shape, !this.hooks);
      this.#view = null;
      this.#chosen = this.#hovered = this.#cursor = null;
      this.#overlay = {};
      this.#build();
    }
    this.svg.setAttribute("role", this.hooks ? "group" : "img");
    this.svg.setAttribute("aria-label", label);
  }

  #build() {
    const shape = /** @type {Shape} */ (this.#shape);
    const layout = /** @type {Crossings} */ (this.#layout);
    this.svg.setAttribute("viewBox", layout.box.join(" "));
    this.svg.setAttribute("data-look", shape.look);
    this.svg.replaceChildren(layout.ground());
    this.#layers = {};
    this.#pieces.clear();
    this.#spots.clear();
    this.#actions.clear();
    for (const name of ["policy", "owners", "pieces", "ownership", "marks", "dots", "candidates", "ghosts", "spots"]) {
      this.#layers[name] = svg("g", { class: name });
      this.svg.append(this.#layers[name]);
    }
    if (this.hooks || shape.look === "edges") this.#layers.dots.append(layout.coordinates());
    shape.cells.forEach((cell, action) => {
      if (cell === null) return;
      this.#actions.set(cell, action);
      if (!this.hooks) return;
      const spot = svg("g", { class: "spot", tabindex: -1, "data-action": action }, layout.hit(cell), layout.ring(cell));
      this.#spots.set(action, spot);
      this.#layers.spots.append(spot);
    });
  }

  /** @param {View} view */
  show(view) {
    const shape = /** @type {Shape} */ (this.#shape);
    const layout = /** @type {any} */ (this.#layout);
    const fresh = this.#view === null;
    this.#view = view;
    this.#legal = new Set(view.legal);
    const glyphs = view.glyphs.join("");

    // Pieces: only what changed is touched, so that only what is new moves.
    for (const [cell, { key, element }] of this.#pieces) {
      if (this.#key(cell, glyphs) !== key) {
        element.remove();
        this.#pieces.delete(cell);
      }
    }
    for (let cell = 0; cell < glyphs.length; cell++) {
      const key = this.#key(cell, glyphs);
      if (key && !this.#pieces.has(cell)) {
        const element = layout.piece(cell, glyphs[cell], view.drawn?.get(this.#actions.get(cell) ?? -1));
        if (!fresh) element.classList.add("arrives");
        this.#pieces.set(cell, { key, element });
        this.#layers.pieces.append(element);
      }
    }

    // Decided small boards, and those where one may play.
    if (layout instanceof Cells) {
      const lit = new Set(view.open ? view.legal.map((action) => shape.cells[action]) : []);
      this.#layers.owners.replaceChildren();
      this.svg.querySelectorAll(".block").forEach((element, number) => {
        const cells = layout.blocks()[number];
        const owner = shape.block ? Math.sign(view.owners?.[cells[0]] ?? 0) : 0;
        const drawn = shape.block > 0 && owner === 0 && cells.every((cell) => "XO".includes(glyphs[cell]));
        element.classList.toggle("lit", cells.some((cell) => lit.has(cell)) && shape.block > 0);
        element.classList.toggle("over", drawn || owner !== 0);
        element.classList.toggle("won", cells.some((cell) => view.line?.includes(cell)));
        for (const cell of cells) this.#pieces.get(cell)?.element.classList.toggle("faded", owner !== 0 || drawn);
        if (owner) {
          const { x, y, width, height } = layout.frame(cells);
          const big = cross(x + width / 2, y + height / 2, width * 0.3, owner > 0 ? "X" : "O");
          big.classList.add("big");
          this.#layers.owners.append(svg("rect", { class: `tint ${SIDES[owner > 0 ? 0 : 1]}`, x, y, width, height, rx: 7 }), big);
        }
      });
      this.#layers.owners.remove();
      this.#layers.pieces.after(this.#layers.owners);
    }

    this.#layers.marks.replaceChildren();
    const last = view.last ?? null;
    const cell = last === null ? null : shape.cells[last];
    if (cell !== null) this.#layers.marks.append(layout.mark(cell, glyphs[cell]));
    if (shape.look === "crossings") {
      // Where one may not play though it looks free: good to know in NoGo, and for a ko.
      for (const action of view.open ? this.#spots.keys() : []) {
        const at = shape.cells[action] ?? 0;
        if (this.#legal.has(action) || glyphs[at] !== ".") continue;
        const [x, y] = layout.at(at);
        this.#layers.marks.append(svg("path", { class: "barred", d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` }));
      }
      for (const won of view.line ?? []) {
        const [cx, cy] = layout.at(won);
        this.#layers.marks.append(svg("circle", { class: "won", cx, cy, r: 18.5 }));
      }
    }

    for (const [action, spot] of this.#spots) {
      const legal = this.#legal.has(action);
      spot.classList.toggle("legal", legal && view.open);
      const name = this.hooks?.name?.(shape.texts[action], glyphs[shape.cells[action] ?? 0], legal) ?? "";
      if (spot.getAttribute("aria-label") !== name) spot.setAttribute("aria-label", name);
      spot.setAttribute("role", legal && view.open ? "button" : "img");
    }
    if (this.#chosen !== null && !(view.open && this.#legal.has(this.#chosen))) this.choose(null);
    this.#rove();
    this.#ghosts();
  }

  /** What is drawn at a cell, as a text to compare. @param {number} cell @param {string} glyphs */
  #key(cell, glyphs) {
    const glyph = glyphs[cell];
    const edge = this.#shape?.look === "edges";
    if (!(glyph === "X" || glyph === "O" || (edge && (glyph === "-" || glyph === "|")))) return "";
    return glyph + (edge ? (this.#view?.drawn?.get(this.#actions.get(cell) ?? -1) ?? "") : "");
  }

  // ── Overlays ──

  /** @param {Overlay} overlay */
  overlay(overlay) {
    this.#overlay = overlay;
    const shape = this.#shape;
    const layout = /** @type {any} */ (this.#layout);
    if (!shape || !this.#view) return;

    const most = Math.max(1e-9, ...(overlay.policy ?? []).map(([, share]) => share));
    this.#layers.policy.replaceChildren(
      ...(overlay.policy ?? []).flatMap(([action, share]) => {
        const cell = shape.cells[action];
        if (cell === null || share / most < 0.02) return [];
        const heat = layout.hit(cell);
        heat.setAttribute("class", "heat");
        heat.setAttribute("opacity", (0.85 * Math.sqrt(share / most)).toFixed(2));
        return [heat];
      }),
    );
    this.#layers.ownership.replaceChildren(
      ...(overlay.ownership ?? []).flatMap((value, cell) => {
        const owned = Math.abs(value) < 0.08 ? null : layout.owned(cell, value);
        owned?.setAttribute("opacity", (Math.abs(value) * (shape.look === "crossings" ? 0.85 : 0.4)).toFixed(2));
        return owned ? [owned] : [];
      }),
    );
    // Best ones last, so that they lie on top.
    this.#layers.candidates.replaceChildren(
      ...[...(overlay.candidates ?? [])].reverse().flatMap((candidate) => {
        const cell = shape.cells[candidate.action];
        return cell === null ? [] : [this.#candidate(cell, candidate)];
      }),
    );
    this.#ghosts();
  }

  /** @param {number} cell @param {NonNullable<Overlay["candidates"]>[number]} candidate */
  #candidate(cell, { size, loss, label, best }) {
    const layout = /** @type {any} */ (this.#layout);
    const [x, y] = layout.at(cell);
    const group = svg("g", { class: `candidate shade-${shade(loss)}${best ? " best" : ""}` });
    const labelled = size > 0.3 || best;
    if (layout instanceof Edges) {
      group.append(svg("path", { class: "bar", d: layout.path(cell, 9), "stroke-width": (5 + 9 * size).toFixed(1) }));
      if (labelled) group.append(svg("circle", { class: "blob", cx: x, cy: y, r: 13 }));
    } else {
      group.append(svg("circle", { class: "blob", cx: x, cy: y, r: (8 + 10 * size).toFixed(1) }));
    }
    if (labelled) group.append(svg("text", { x, y: y + 4.4 }, label));
    return group;
  }

  /** Hovered, chosen, hinted and numbered moves. */
  #ghosts() {
    const layer = this.#layers.ghosts;
    const view = this.#view;
    const shape = this.#shape;
    const layout = /** @type {any} */ (this.#layout);
    if (!layer || !view || !shape) return;
    layer.replaceChildren();
    const sequence = this.#overlay.sequence ?? [];
    /** @param {number} cell @param {0 | 1} side @param {string} kind */
    const ghost = (cell, side, kind) => {
      const glyph = shape.look === "edges" ? (layout.flat(cell) ? "-" : "|") : "XO"[side];
      const piece = layout.piece(cell, glyph, side);
      piece.classList.add("ghost", kind);
      if (shape.look === "edges") piece.setAttribute("d", layout.path(cell, 9));
      layer.append(piece);
    };
    const { hint, judged } = this.#overlay;
    if (hint !== null && hint !== undefined && shape.cells[hint] !== null) {
      const ring = layout.ring(shape.cells[hint]);
      ring.setAttribute("class", "hinted");
      layer.append(ring);
    }
    if (judged && shape.cells[judged.action] !== null) {
      const [x, y] = layout.at(shape.cells[judged.action]);
      layer.append(
        svg("g", { class: `judged ${judged.kind}` }, svg("circle", { cx: x + 14, cy: y - 14, r: 8 }), svg("path", { d: badge(judged.kind, x + 14, y - 14) })),
      );
    }
    if (sequence.length) {
      this.svg.classList.add("reading");
      const seen = new Set();
      sequence.slice(0, 12).forEach((action, number) => {
        const cell = shape.cells[action];
        if (cell === null || seen.has(cell)) return;
        seen.add(cell);
        const side = /** @type {0 | 1} */ ((view.mover + number) % 2);
        ghost(cell, side, "numbered");
        const [x, y] = layout.at(cell);
        if (shape.look === "edges") layer.append(svg("circle", { class: "number-back", cx: x, cy: y, r: 11 }));
        layer.append(svg("text", { class: `number ${SIDES[side]}`, x, y: y + 4.8 }, String(number + 1)));
      });
      return;
    }
    this.svg.classList.remove("reading");
    const shown = this.#chosen ?? (view.open && this.#hovered !== null && this.#legal.has(this.#hovered) ? this.#hovered : null);
    const cell = shown === null ? null : shape.cells[shown];
    if (cell !== null) {
      ghost(cell, view.mover, this.#chosen !== null ? "chosen" : "hovered");
      if (this.#chosen !== null) {
        const ring = layout.ring(cell);
        ring.setAttribute("class", "choosing");
        layer.append(ring);
      }
    }
  }

  // ── Pointer and keys ──

  /** @param {number | null} action */
  choose(action) {
    if (this.#chosen === action) return;
    this.#chosen = action;
    this.hooks?.choose?.(action);
    this.#ghosts();
  }

  /** Plays the chosen move. */
  confirm() {
    const action = this.#chosen;
    if (action === null) return;
    this.choose(null);
    this.hooks?.play(action);
  }

  /** Puts the focus on the board. */
  focus() {
    if (this.#cursor !== null) this.#spots.get(this.#cursor)?.focus();
  }

  #listen() {
    /** @param {Event} event */
    const action = (event) => {
      const spot = event.target instanceof Element ? event.target.closest(".spot") : null;
      return spot ? Number(spot.getAttribute("data-action")) : null;
    };
    this.svg.addEventListener("pointerdown", (event) => {
      this.#touched = /** @type {PointerEvent} */ (event).pointerType === "touch";
    });
    // The pointer takes no focus: arrow keys then still step through the game.
    this.svg.addEventListener("mousedown", (event) => event.preventDefault());
    this.svg.addEventListener("pointerover", (event) => {
      if (/** @type {PointerEvent} */ (event).pointerType === "touch") return;
      this.#hover(action(event));
    });
    this.svg.addEventListener("pointerleave", () => this.#hover(null));
    this.svg.addEventListener("click", (event) => {
      const at = action(event);
      // Pieces stay silent; a free place where one may not play is asked for, and the server says why not.
      if (at === null || !this.#view?.open || this.#pieces.has(this.#shape?.cells[at] ?? -1)) return;
      this.#place(at);
      if (!this.careful) this.hooks?.play(at);
      else if (this.#chosen === at) this.confirm();
      else if (this.#legal.has(at)) this.choose(at);
      else {
        this.choose(null);
        this.hooks?.play(at);
      }
    });
    this.svg.addEventListener("focusin", (event) => {
      const at = action(event);
      if (at !== null) this.#place(at);
      if (event.target instanceof Element && event.target.matches(":focus-visible")) this.#hover(at);
    });
    this.svg.addEventListener("focusout", () => this.#hover(null));
    this.svg.addEventListener("keydown", (event) => this.#press(/** @type {KeyboardEvent} */ (event)));
  }

  /** @param {number | null} action */
  #hover(action) {
    if (action === this.#hovered) return;
    this.#hovered = action;
    this.hooks?.look?.(action);
    this.#ghosts();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (way) {
      this.#step(way[0], way[1], event.shiftKey);
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.#cursor !== null && this.#view?.open) this.hooks?.play(this.#cursor);
    } else if (event.key === "Escape" && this.#chosen !== null) {
      this.choose(null);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * Moves the focus to the nearest spot that way: among the legal ones, or among all with shift.
   * @param {number} dx @param {number} dy @param {boolean} all
   */
  #step(dx, dy, all) {
    const cells = /** @type {Shape} */ (this.#shape).cells;
    const layout = /** @type {any} */ (this.#layout);
    if (this.#cursor === null) return;
    const [x, y] = layout.at(cells[this.#cursor]);
    let nearest = null;
    let least = Infinity;
    for (const action of this.#spots.keys()) {
      if (action === this.#cursor || !(all || this.#legal.has(action) || !this.#legal.size)) continue;
      const [toX, toY] = layout.at(cells[action]);
      const ahead = (toX - x) * dx + (toY - y) * dy;
      const aside = Math.abs((toX - x) * dy) + Math.abs((toY - y) * dx);
      if (ahead > 0 && ahead + 2.1 * aside < least) {
        least = ahead + 2.1 * aside;
        nearest = action;
      }
    }
    if (nearest === null) return;
    this.#place(nearest);
    this.#spots.get(nearest)?.focus();
  }

  /** Where the focus will be. @param {number} action */
  #place(action) {
    if (this.#cursor !== null) this.#spots.get(this.#cursor)?.setAttribute("tabindex", "-1");
    this.#cursor = action;
    this.#spots.get(action)?.setAttribute("tabindex", "0");
  }

  /** Keeps the focus on a legal spot, the nearest one to where it was. */
  #rove() {
    if (!this.hooks || !this.#spots.size) return;
    const cells = /** @type {Shape} */ (this.#shape).cells;
    const layout = /** @type {any} */ (this.#layout);
    const held = this.svg.contains(document.activeElement);
    if (this.#cursor !== null && (this.#legal.has(this.#cursor) || !this.#legal.size)) return;
    const legal = [...this.#legal].filter((action) => cells[action] !== null);
    if (!legal.length) {
      if (this.#cursor === null) this.#place(this.#spots.keys().next().value ?? 0);
      return;
    }
    const [, , width, height] = layout.box;
    const [x, y] = this.#cursor === null ? [layout.box[0] + width / 2, layout.box[1] + height / 2] : layout.at(cells[this.#cursor]);
    /** @param {number} action */
    const away = (action) => {
      const [toX, toY] = layout.at(cells[action]);
      return Math.hypot(toX - x, toY - y);
    };
    this.#place(legal.reduce((best, action) => (away(action) < away(best) ? action : best)));
    if (held && this.#cursor !== null) this.#spots.get(this.#cursor)?.focus();
  }
}

/** A sign for a verdict: a tick, or an exclamation mark upside down … as a path. @param {string} kind @param {number} x @param {number} y */
function badge(kind, x, y) {
  if (kind === "best" || kind === "good" || kind === "keeps") return `M${x - 3.6} ${y}l2.6 3l4.6 -5.6`;
  return `M${x} ${y - 4.4}v5M${x} ${y + 3.8}v.2`;
}
