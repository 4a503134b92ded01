/** @file Small charts: the value of a game over its plies, and curves of a run. */

import { svg } from "./dom.js";
import { percent } from "./names.js";

const WIDTH = 320; // of a graph
const BROAD = 480; // of curves

/**
 * How a game went: First's chance over the plies. A click jumps there.
 * @param {HTMLElement} host
 * @param {object} shown
 * @param {(number | null)[]} shown.values of each ply, for First
 * @param {number} shown.ply where the board stands
 * @param {{ply: number, kind: string}[]} shown.marks
 * @param {string} shown.label
 * @param {(ply: number) => string} shown.name of a ply
 * @param {(ply: number) => void} jump
 */
export function valueGraph(host, { values, ply, marks, label, name }, jump) {
  const height = 84;
  const last = Math.max(1, values.length - 1);
  /** @param {number} at */
  const x = (at) => 6 + ((WIDTH - 12) * at) / last;
  /** @param {number} value */
  const y = (value) => height / 2 - (height / 2 - 6) * value;
  const known = values.flatMap((value, at) => (value === null ? [] : [[x(at), y(value)]]));
  const line = known.map(([px, py], at) => `${at ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`).join("");
  const area = known.length > 1 ? `${line}L${known[known.length - 1][0].toFixed(1)} ${height}L${known[0][0].toFixed(1)} ${height}Z` : "";
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label, preserveAspectRatio: "none" });
  picture.append(
    svg("rect", { class: "graph-second", width: WIDTH, height, rx: 6 }),
    svg("path", { class: "graph-first", d: area }),
    svg("path", { class: "graph-even", d: `M0 ${height / 2}H${WIDTH}` }),
    svg("path", { class: "graph-line", d: line }),
  );
  for (const mark of marks) {
    const value = values[mark.ply];
    if (value !== null && value !== undefined) picture.append(svg("circle", { class: `graph-mark ${mark.kind}`, cx: x(mark.ply), cy: y(value), r: 3.6 }));
  }
  picture.append(svg("path", { class: "graph-now", d: `M${x(ply)} 0V${height}` }));
  const value = values[ply];
  if (value !== null && value !== undefined) picture.append(svg("circle", { class: "graph-dot", cx: x(ply), cy: y(value), r: 4 }));
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((/** @type {MouseEvent} */ (event).clientX - box.left) / box.width) * WIDTH;
    jump(Math.max(0, Math.min(values.length - 1, Math.round(((at - 6) / (WIDTH - 12)) * last))));
  });
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((/** @type {MouseEvent} */ (event).clientX - box.left) / box.width) * WIDTH;
    const over = Math.max(0, Math.min(values.length - 1, Math.round(((at - 6) / (WIDTH - 12)) * last)));
    const there = values[over];
    title.textContent = name(over) + (there === null ? "" : ` · ${percent(there, 0)}%`);
  });
  const title = svg("title", {});
  picture.prepend(title);
  host.replaceChildren(picture);
}

/** Round steps for an axis. @param {number} low @param {number} high @param {number} count */
function ticks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((unit) => unit * power).find((unit) => unit >= rough) ?? rough;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-6; at += step) found.push(Number(at.toPrecision(6)));
  return found;
}

/**
 * Curves over minutes.
 * @param {HTMLElement} host
 * @param {object} shown
 * @param {string} shown.title
 * @param {string} shown.axis
 * @param {{name: string, points: {x: number, y: number, error?: number}[]}[]} shown.curves
 */
export function curves(host, { title, axis, curves: all }) {
  const filled = all.filter((curve) => curve.points.length);
  host.hidden = !filled.length;
  const height = 200;
  const [left, right, top, bottom] = [38, 10, 26, 30];
  const picture = svg("svg", { class: "curves", viewBox: `0 0 ${BROAD} ${height}`, role: "img", "aria-label": title });
  picture.append(svg("text", { class: "curves-title", x: 4, y: 14 }, title));
  const points = filled.flatMap((curve) => curve.points);
  if (points.length) {
    const xs = points.map((point) => point.x);
    const ys = points.flatMap((point) => [point.y - (point.error ?? 0), point.y + (point.error ?? 0)]);
    const [low, high] = [0, Math.max(...xs, 0.1)];
    const [under, over] = [Math.min(...ys), Math.max(...ys, Math.min(...ys) + 1e-3)];
    /** @param {number} at */
    const x = (at) => left + ((BROAD - left - right) * (at - low)) / (high - low);
    /** @param {number} at */
    const y = (at) => height - bottom - ((height - top - bottom) * (at - under)) / (over - under);
    for (const tick of ticks(under, over, 4)) {
      picture.append(
        svg("path", { class: "curves-grid", d: `M${left} ${y(tick).toFixed(1)}H${BROAD - right}` }),
        svg("text", { class: "curves-tick end", x: left - 5, y: y(tick) + 3.5 }, String(tick)),
      );
    }
    for (const tick of ticks(low, high, 5)) picture.append(svg("text", { class: "curves-tick", x: x(tick), y: height - 14 }, String(tick)));
    picture.append(svg("text", { class: "curves-tick end", x: BROAD - right, y: height - 2 }, axis));
    filled.forEach((curve, number) => {
      const group = svg("g", { class: `curve curve-${number}` });
      for (const point of curve.points) {
        if (point.error) group.append(svg("path", { class: "error", d: `M${x(point.x)} ${y(point.y - point.error)}V${y(point.y + point.error)}` }));
      }
      group.append(svg("path", { d: curve.points.map((point, at) => `${at ? "L" : "M"}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`).join("") }));
      const end = curve.points[curve.points.length - 1];
      group.append(svg("circle", { cx: x(end.x), cy: y(end.y), r: 2.8 }));
      const place = BROAD - right - 70 * (filled.length - 1 - number);
      if (filled.length > 1) group.append(svg("text", { class: "curves-name end", x: place, y: 14 }, curve.name));
      picture.append(group);
    });
  }
  host.replaceChildren(picture);
}
