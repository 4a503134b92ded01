/** @file The Lab: runs of training, their curves as they grow, and the latest game that a run played with itself. */

import { Board } from "./board.js";
import { curves } from "./chart.js";
import { h, icon, need } from "./dom.js";
import { gameName, short, sizeName } from "./names.js";
import { Connection } from "./socket.js";
import { currentLanguage, known, switches, t } from "./words.js";

/** @typedef {import("./names.js").Game} Game */
/** @typedef {{name: string, game: string, minutes: number, games: number, steps: number, alive: boolean}} Run */

/** Which columns of metrics.jsonl a picture shows. */
const PICTURES = { loss: ["loss", "policy_loss", "value_loss"], entropy: ["policy_entropy", "target_entropy"] };
const PACE = 450; // milliseconds between moves of the replay

/** @type {Game[]} */
let games = [];
let open = false;
/** @type {Run[]} */
let runs = [];
/** @type {string | null} */
let watched = null;
/** @type {Record<string, number>[]} */
let metrics = [];
/** @type {{minutes: number, rating: number | null, error: number | null}[]} */
let arena = [];
/** @type {{name: string, moves: string[], glyphs: string[][], owners?: (number[] | null)[]} | null} */
let record = null;
let ply = 0;
/** Why the run failed, if it did. @type {string | null} */
let trouble = null;
let playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;

const board = new Board(need("board"));
const connection = new Connection({
  hear,
  state: (up) => {
    need("notice").hidden = up;
    need("notice").textContent = t("page.lost");
  },
});
switches(showAll);
setInterval(() => playing && record && step(1), PACE);

/** @param {any} message */
function hear(message) {
  if (message.is === "welcome") {
    games = message.games;
    open = message.lab;
    if (open) connection.send({ do: "lab", what: "runs" });
    showAll();
  } else if (message.is === "runs") {
    runs = message.runs;
    // The server stops watching while it is asked something else.
    const name = message.started ?? watched ?? (runs.find((run) => run.alive) ?? runs[0])?.name;
    if (name) watch(name);
    showRuns();
  } else if (message.is === "run" && message.run === watched) {
    if (message.first) [metrics, arena] = [[], []];
    metrics = [...metrics, ...message.metrics];
    arena = [...arena, ...message.arena];
    if (message.trouble && message.trouble !== trouble) toast(message.trouble);
    trouble = message.trouble;
    if (message.game) {
      record = message.game;
      ply = 0;
    }
    const listed = runs.find((run) => run.name === watched);
    if (listed) Object.assign(listed, { alive: message.alive }, message.minutes === undefined ? {} : { minutes: message.minutes, games: message.games, steps: message.steps });
    else runs = [{ name: message.run, game: "", minutes: 0, games: 0, steps: 0, alive: message.alive }, ...runs];
    showRuns();
    showCharts();
    showGame();
  } else if (message.is === "trouble") {
    toast(known(`trouble.${message.key}`) && currentLanguage() !== "en" ? t(`trouble.${message.key}`) : message.text);
  }
}

/** @param {string} text */
function toast(text) {
  const note = h("div", { class: "toast" }, text);
  need("toasts").append(note);
  setTimeout(() => note.remove(), 5000);
}

/** @param {string} name */
function watch(name) {
  if (watched !== name) [metrics, arena, record] = [[], [], null];
  watched = name;
  connection.send({ do: "lab", what: "watch", run: name });
  showRuns();
  showCharts();
  showGame();
}

function showAll() {
  need("about").textContent = t(open || !games.length ? "lab.about" : "lab.closed");
  need("start").hidden = need("grid").hidden = !open;
  const select = need("start-game", HTMLSelectElement);
  const chosen = select.value || "gomoku6x4";
  select.replaceChildren(...games.map((game) => h("option", { value: game.name, selected: game.name === chosen }, `${gameName(game)} ${sizeName(game)}`)));
  showRuns();
  showCharts();
  showGame();
}

function showRuns() {
  need("runs").replaceChildren(
    ...runs.map((run) =>
      h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: "run", "aria-pressed": String(run.name === watched), onclick: () => watch(run.name) },
          h("b", {}, run.name),
          h("small", {}, facts(run)),
          run.alive && h("small", { class: "alive" }, `● ${t("lab.alive")}`),
        ),
        run.alive && run.name === watched && h("button", { type: "button", class: "quiet", onclick: () => connection.send({ do: "lab", what: "stop", run: run.name }) }, t("lab.stop")),
      ),
    ),
  );
  if (!runs.length) need("runs").append(h("li", { class: "faint" }, t("lab.none")));
  const run = runs.find((one) => one.name === watched);
  need("run-name").textContent = watched ?? "";
  need("run-facts").textContent = run ? facts(run) : "";
}

/** @param {Run} run */
function facts(run) {
  return t("lab.facts", { minutes: run.minutes.toFixed(1), games: short(run.games), steps: short(run.steps) });
}

function showCharts() {
  const axis = t("lab.axis");
  for (const [name, keys] of Object.entries(PICTURES)) {
    const drawn = keys.map((key) => ({
      name: t(`curve.${key}`),
      points: metrics.filter((row) => Number.isFinite(row[key])).map((row) => ({ x: row.minutes, y: row[key] })),
    }));
    curves(need(`chart-${name}`), { title: t(`lab.${name}`), axis, curves: drawn });
  }
  const rated = arena.flatMap((line) => (line.rating === null ? [] : [{ x: line.minutes, y: line.rating, error: line.error ?? 0 }]));
  curves(need("chart-rating"), { title: t("lab.rating"), axis, curves: [{ name: t("curve.rating"), points: rated }] });
  if (watched && !metrics.length) need("run-facts").textContent = t("lab.waiting");
}

/** @param {number} plies */
function step(plies) {
  if (!record) return;
  const end = record.glyphs.length - 1;
  // A replay that came to its end begins again.
  ply = playing && ply === end ? 0 : Math.max(0, Math.min(end, ply + plies));
  showGame();
}

function showGame() {
  const name = record?.name ?? runs.find((run) => run.name === watched)?.game;
  const game = games.find((one) => one.name === name);
  need("board").hidden = need("steps").hidden = !record || !game;
  need("game-about").textContent = game ? `${gameName(game)} · ${sizeName(game)}` : "";
  if (!record || !game) return;
  board.set(game, t("say.board", { game: gameName(game), size: sizeName(game) }));
  const last = ply > 0 ? game.texts.indexOf(record.moves[ply - 1]) : -1;
  board.show({ glyphs: record.glyphs[ply], legal: [], mover: 0, open: false, last: last < 0 ? null : last, owners: record.owners?.[ply] ?? null });
  /** @param {string} picture @param {string} label @param {() => void} act */
  const button = (picture, label, act) => h("button", { type: "button", class: "round", id: `lab-${picture}`, "aria-label": label, title: label, onclick: act }, icon(picture));
  const focused = need("steps").contains(document.activeElement) ? document.activeElement?.id : "";
  /** @param {number} plies */
  const by = (plies) => () => {
    playing = false;
    step(plies);
  };
  const toggle = () => {
    playing = !playing;
    showGame();
  };
  need("steps").replaceChildren(
    button("first", t("do.first"), by(-Infinity)),
    button("back", t("do.back"), by(-1)),
    button(playing ? "pause" : "play", t("lab.play"), toggle),
    button("forward", t("do.forward"), by(1)),
    button("last", t("do.last"), by(Infinity)),
    h("span", { class: "count" }, `${ply} / ${record.glyphs.length - 1}`),
  );
  if (focused) (document.getElementById(focused) ?? document.getElementById(playing ? "lab-pause" : "lab-play"))?.focus();
}

need("start").addEventListener("submit", (event) => {
  event.preventDefault();
  connection.send({
    do: "lab",
    what: "start",
    game: need("start-game", HTMLSelectElement).value,
    minutes: Number(need("start-minutes", HTMLInputElement).value),
  });
});
