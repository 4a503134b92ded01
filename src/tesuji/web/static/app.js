/** @file The play page: what the server says becomes a board and panels; what the visitor does becomes messages. */

import { AnalysisPanel } from "./analysis.js";
import { Board } from "./board.js";
import { valueGraph } from "./chart.js";
import { h, icon, need } from "./dom.js";
import { helpDialog } from "./help.js";
import { readLink, writeLink } from "./link.js";
import { moveList } from "./moves.js";
import { gameName, moveName, percent, ratingName, seatName, sideName, sizeName } from "./names.js";
import { lastChoice, newGameDialog } from "./newgame.js";
import { mistakes, reviewPanel } from "./review.js";
import { Connection } from "./socket.js";
import { currentLanguage, kept, known, switches, t } from "./words.js";

/** @typedef {import("./names.js").Game} Game */
/** @typedef {import("./moves.js").TreeNode} TreeNode */

/**
 * A position as the server sends it.
 * @typedef {object} Position
 * @property {number} serial of the game at this table
 * @property {string} game
 * @property {Record<string, number>} numbers
 * @property {string[]} seats
 * @property {number} node
 * @property {number} ply
 * @property {number[]} path
 * @property {TreeNode[]} tree
 * @property {string[]} glyphs
 * @property {0 | 1} to_play
 * @property {number[]} legal
 * @property {number | null} last
 * @property {number | null} result
 * @property {string} reason
 * @property {number | null} score
 * @property {number[] | null} owners
 * @property {boolean} thinking
 * @property {boolean} paused
 * @property {number[]} line
 * @property {[number, number]} [captured] stones of First and of Second that are gone
 */

const LARGEST_FILE = 1 << 20;

// ── What the page knows ──

/** @type {{games: Game[], levels: Record<string, import("./names.js").Level[]>, lab: boolean, docs: boolean} | null} */
let welcome = null;
/** @type {Position | null} */
let position = null;
/** @type {Game | null} */
let game = null;
/** @type {import("./analysis.js").Analysis | null} */
let analysis = null;
/** @type {import("./review.js").Review | null} */
let review = null;
/** The nodes of the line that is reviewed. @type {number[]} */
let reviewed = [];
/** @type {{node: number, action: number} | null} */
let hint = null;
/** The numbered moves under the pointer. @type {number[]} */
let sequence = [];
/** Values of nodes, for First, from whatever looked at them. @type {Map<number, number>} */
const values = new Map();
/** @type {Map<number, TreeNode>} */
let nodes = new Map();
let analysing = false;
let tab = "moves";
/** Where a restored game stood, in plies. @type {number | null} */
let standAt = null;
/** Whether the server does not know yet, or no more, what the page shows. */
let away = false;
/** @type {import("./analysis.js").Layers} */
let layers = { candidates: true, policy: false, ownership: true, ...kept.get("layers") };

const board = new Board(need("board"), {
  play: (action) => play(action),
  choose: (action) => confirmBar(action),
  look: (action) => lookAt(action),
  name: cellName,
});

const analysisPanel = new AnalysisPanel(need("panel-analysis"), {
  turn: analyse,
  layers: (next) => {
    layers = next;
    kept.set("layers", layers);
    showOverlay();
    showAnalysisPanel();
  },
  look: (candidate) => {
    sequence = candidate?.actions ?? [];
    showOverlay();
  },
  play: (action) => mayPlay() && play(action),
});

const connection = new Connection({ hear, state: connectionState });
const { turn: turnLight } = switches(showAll);

// ── Messages from the server ──

/** @param {any} message */
function hear(message) {
  if (message.is === "welcome") begin(message);
  else if (message.is === "position") showPosition(message);
  else if (message.is === "thinking") thinking(message.on);
  else if (message.is === "analysis") showAnalysis(message);
  else if (message.is === "hint") showHint(message);
  else if (message.is === "review") showReview(message);
  else if (message.is === "saved") download(message.name, message.text);
  else if (message.is === "trouble") showTrouble(message);
}

/** @param {{about: string, key: string, text: string}} trouble */
function showTrouble({ about, key, text }) {
  toast(known(`trouble.${key}`) && currentLanguage() !== "en" ? t(`trouble.${key}`) : text);
  if (about === "open" && position) need("notice").hidden = true; // connected, though not with this game
  else if (about === "open") beginAnew(); // a link that leads nowhere
}

/** The connection is back when the game is: until then nothing can be played. @param {boolean} up */
function connectionState(up) {
  if (up || away) return;
  away = true;
  need("notice").textContent = t("page.lost");
  need("notice").hidden = false;
  showAll();
}

function backAgain() {
  if (!away) return;
  away = false;
  if (!need("notice").hidden) toast(t("page.back"));
  need("notice").hidden = true;
}

/** After a connection is made: restore what was there, open the link, or begin. @param {any} message */
function begin(message) {
  welcome = message;
  need("to-lab").hidden = !message.lab;
  const place = readLink(location.hash);
  if (position) {
    restore(position);
  } else if (place && message.games.some((/** @type {Game} */ member) => member.name === place.game)) {
    openPlace(place);
  } else {
    beginAnew();
  }
  if (analysing) connection.send({ do: "analyse", on: true });
}

/** What was played last; a new visitor is asked. */
function beginAnew() {
  if (!welcome) return;
  const last = lastChoice(welcome);
  connection.send({ do: "new", ...(last ?? { game: welcome.games[0].name, numbers: {}, seats: ["human", "casual"] }) });
  if (!last) openDialog(false, welcome.games[0]);
}

/** The same game anew, on a server that has forgotten it. @param {Position} was */
function restore(was) {
  was.serial = -1; // its numbers of nodes mean nothing to the new table
  const moves = was.path.slice(1).map((node) => nodes.get(node)?.text ?? "");
  standAt = was.ply < moves.length ? was.ply : null;
  const resigned = was.reason === "resign" && was.result !== null ? { resigned: was.result > 0 ? 1 : 0 } : {};
  connection.send({ do: "open", game: was.game, numbers: was.numbers, moves, seats: was.seats, ...resigned });
}

/** @param {import("./link.js").Place} place */
function openPlace(place) {
  const before = kept.get("table");
  const seats = before && before.hash === location.hash ? before.seats : ["human", place.moves.length ? "human" : "casual"];
  connection.send({ do: "open", ...place, seats });
}

// ── The position ──

/** @param {Position} next */
function showPosition(next) {
  if (next.serial === 0) return; // what the table began with, before the page said what it wants
  const before = position;
  const same = before && before.serial === next.serial;
  game = welcome?.games.find((member) => member.name === next.game) ?? null;
  if (!game) return;
  position = next;
  nodes = new Map(next.tree.map((entry) => [entry.node, entry]));
  if (!same) {
    values.clear();
    review = null;
  }
  if (!same || before.node !== next.node) {
    analysis = null;
    hint = null;
    sequence = [];
  }
  if (standAt !== null && next.ply !== standAt && next.path[standAt] !== undefined) {
    connection.send({ do: "go", node: next.path[standAt] });
  } else {
    backAgain();
  }
  standAt = null;
  if (same && next.tree.length > before.tree.length && next.last !== null) announceMove(next);
  else announce(turnText());
  const hash = writeLink({ game: next.game, numbers: changedNumbers(), moves: movesHere() });
  history.replaceState(null, "", hash);
  kept.set("table", { hash, seats: next.seats });
  showAll();
}

function showAll() {
  if (!position || !game) return;
  board.set(game, t("say.board", { game: gameName(game), size: sizeName(game) }));
  board.show({
    glyphs: position.glyphs,
    legal: position.legal,
    mover: position.to_play,
    open: mayPlay(),
    last: position.last,
    owners: position.owners,
    line: position.line,
    drawn: game.look === "edges" ? whoDrew() : undefined,
  });
  document.title = `${gameName(game)} · Tesuji`;
  need("title").textContent = [gameName(game), sizeName(game), ...rulesText()].join(" · ");
  showSeats();
  showControls();
  showResult();
  showOverlay();
  showPanels();
}

function mayPlay() {
  return !away && position !== null && position.result === null && position.seats[position.to_play] === "human";
}

/** Rule numbers that differ from the usual ones. */
function changedNumbers() {
  return Object.fromEntries(Object.entries(position?.numbers ?? {}).filter(([key, value]) => value !== game?.numbers[key]?.default));
}

/** The same in words. */
function rulesText() {
  return Object.entries(changedNumbers()).map(([key, value]) => {
    const name = known(`number.${key}`) ? t(`number.${key}`) : key;
    const range = game?.numbers[key];
    return range?.most === 1 && range.step === 1 ? name : `${name} ${value}`;
  });
}

/** The texts of the moves up to the position. */
function movesHere() {
  return (position?.path ?? []).slice(1, (position?.ply ?? 0) + 1).map((node) => nodes.get(node)?.text ?? "");
}

/** @returns {Map<number, 0 | 1>} */
function whoDrew() {
  const drawn = new Map();
  for (const node of position?.path.slice(1, position.ply + 1) ?? []) {
    const entry = nodes.get(node);
    if (entry) drawn.set(entry.action, entry.mover);
  }
  return drawn;
}

/** @param {string} text @param {string} glyph @param {boolean} legal */
function cellName(text, glyph, legal) {
  if (!game) return text;
  const edge = game.look === "edges";
  const what = glyph === "X" || glyph === "O" ? sideName(game, "XO".indexOf(glyph)) : glyph === "-" || glyph === "|" ? t("cell.drawn") : t(legal ? "cell.legal" : "cell.illegal");
  return t(edge ? "cell.edge" : "cell.point", { move: text, what });
}

// ── Words for what happens ──

/** @param {string} text */
function announce(text) {
  need("live").textContent = text;
}

/** @param {Position} now */
function announceMove(now) {
  const made = nodes.get(now.node);
  if (!made || !game) return;
  const side = sideName(game, made.mover);
  announce(`${made.text === "pass" ? t("say.passed", { side }) : t("say.played", { side, move: made.text })} ${turnText()}`);
  // A program that passes should not be missed.
  if (made.text === "pass" && now.seats[made.mover] !== "human") toast(t("say.passed", { side }));
}

/** One human against a program: which side the human has. */
function ownSide() {
  const humans = (position?.seats ?? []).flatMap((seat, side) => (seat === "human" ? [side] : []));
  return humans.length === 1 ? humans[0] : null;
}

/** Whose turn it is, or how the game ended. */
function turnText() {
  if (!position || !game) return "";
  if (position.result === null) {
    return ownSide() === position.to_play ? t("say.your-turn") : t("say.turn", { side: sideName(game, position.to_play) });
  }
  if (position.result === 0) return t("say.drawn");
  const winner = position.result > 0 ? 0 : 1;
  const mine = ownSide();
  const who = mine === null ? t("say.won", { side: sideName(game, winner) }) : t(mine === winner ? "say.you-won" : "say.you-lost");
  return who;
}

/** By how much, or why. */
function resultWhy() {
  if (!position || !game || !position.result) return "";
  if (position.reason === "resign") return t("say.by-resign");
  if (!game.scored || position.score === null) return "";
  return t(game.look === "edges" ? "say.by-boxes" : "say.by-points", { points: Math.abs(position.score) });
}

/** @param {string} text */
function toast(text) {
  const note = h("div", { class: "toast" }, text);
  need("toasts").append(note);
  setTimeout(() => note.remove(), 3500);
}

// ── Seats, value bar, result ──

/** @param {boolean} on */
function thinking(on) {
  if (position) position.thinking = on;
  showSeats();
}

function showSeats() {
  if (!position || !game) return;
  const bottom = ownSide() ?? 0;
  for (const [place, side] of /** @type {const} */ ([["seat-top", 1 - bottom], ["seat-bottom", bottom]])) {
    const seat = position.seats[side];
    const level = welcome?.levels[game.name]?.find((member) => member.name === seat);
    const turn = position.result === null && position.to_play === side;
    const thinks = turn && position.thinking && seat !== "human";
    need(place).className = `seat ${turn ? "turn" : ""}`;
    need(place).replaceChildren(
      h("span", { class: `pip large ${game.look} ${side === 0 ? "first" : "second"}` }),
      h("span", { class: "who" }, h("b", {}, seat === "human" && ownSide() !== null ? t("player.you") : seatName(seat)), h("small", {}, sideName(game, side), level?.rating != null && ` · ${ratingName(level)}`)),
      h("span", { class: "thinking", title: t("player.thinking"), hidden: !thinks }, h("i", {}), h("i", {}), h("i", {}), h("span", { class: "unseen" }, t("player.thinking"))),
      h("span", { class: "gap" }),
      h("span", { class: "tally" }, tally(side)),
    );
  }
}

/** What a side has won so far. @param {number} side */
function tally(side) {
  if (!position || !game) return "";
  if (game.look === "crossings") {
    const captured = position.captured?.[1 - side];
    return captured ? t("player.captured", { count: captured }) : "";
  }
  const sign = side === 0 ? 1 : -1;
  const cells = (position.owners ?? []).filter((owner) => owner === sign).length;
  if (game.look === "edges") return t("player.boxes", { count: cells });
  return game.block ? t("player.boards", { count: cells / game.block ** 2 }) : "";
}

/** The value of the position, from the analysis or what was seen before. */
function valueHere() {
  return position ? (analysis?.value ?? values.get(position.node) ?? null) : null;
}

function showValue() {
  const bar = need("valuebar");
  const value = valueHere();
  const shown = game !== null && (analysing || review !== null);
  bar.hidden = !shown;
  if (!shown || !game || !position) return;
  const share = value === null ? 50 : percent(value, 0);
  const bottom = ownSide() ?? 0;
  bar.className = `valuebar ${game.look} ${bottom === 0 ? "first-below" : "second-below"}`;
  need("valuebar-fill").style.setProperty("--share", `${bottom === 0 ? share : 100 - share}%`);
  need("valuebar-text").textContent = value === null ? "" : `${bottom === 0 ? share : 100 - share}`;
  bar.setAttribute("aria-label", t("value.title", { side: sideName(game, bottom), percent: `${bottom === 0 ? share : 100 - share}%` }));
}

function showResult() {
  const place = need("result");
  need("turn").textContent = turnText();
  place.hidden = !position || position.result === null;
  need("turn").hidden = !place.hidden;
  if (place.hidden) return;
  place.replaceChildren(
    h("p", {}, h("strong", {}, turnText()), " ", h("span", {}, resultWhy())),
    h(
      "div",
      { class: "row" },
      !review && h("button", { type: "button", class: "quiet", id: "result-review", onclick: startReview }, icon("review"), t("do.review")),
      h("button", { type: "button", class: "primary", id: "result-again", onclick: again }, t("do.again")),
    ),
  );
}

function again() {
  if (!position) return;
  connection.send({ do: "new", game: position.game, numbers: position.numbers, seats: position.seats });
}

// ── Overlays ──

/** @param {any} message */
function showAnalysis(message) {
  if (!position || message.node !== position.node || !analysing) return;
  analysis = message;
  values.set(message.node, message.value);
  showOverlay();
  showGraph();
  if (tab === "analysis") showAnalysisPanel();
}

/** @param {any} message */
function showHint(message) {
  if (!position || !game || message.node !== position.node) return;
  hint = message;
  values.set(message.node, message.value);
  const text = t("say.hint", { move: moveName(game.texts[message.action]) });
  announce(text);
  toast(text);
  showOverlay();
}

/** @param {number | null} action */
function lookAt(action) {
  const candidate = action === null || !layers.candidates ? null : analysis?.candidates.find((member) => member.action === action);
  const next = candidate ? candidate.actions : [];
  if (next.length || sequence.length) {
    sequence = next;
    showOverlay();
  }
}

function showOverlay() {
  if (!position || !game) return;
  const mover = position.to_play;
  const seen = analysing ? analysis : null;
  const most = Math.max(1, ...(seen?.candidates ?? []).map((candidate) => candidate.visits));
  const judged = review?.moves.find((move) => move.node === position?.node);
  board.overlay({
    candidates: !seen || !layers.candidates ? [] : seen.candidates.slice(0, 16).map((candidate, place) => ({
      action: candidate.action,
      size: candidate.visits / most,
      loss: candidate.loss,
      label: String(percent(candidate.value, mover)),
      best: place === 0,
    })),
    // The net's; where no net thinks, where the search looked.
    policy: seen && layers.policy ? (seen.policy ?? seen.candidates.map((candidate) => [candidate.action, candidate.visits])) : [],
    ownership: seen && layers.ownership ? seen.ownership : null,
    sequence,
    hint: hint?.action ?? betterHere(),
    judged: judged ? { action: judged.action, kind: judged.verdict } : null,
  });
  showValue();
}

/** The move that would have been better here, when a mistake follows in the reviewed game. */
function betterHere() {
  const following = position && review ? position.path[position.ply + 1] : undefined;
  return mistakes(review).find((move) => move.node === following)?.best ?? null;
}

// ── Panels ──

function showPanels() {
  showGraph();
  if (tab === "moves") showMoves();
  else if (tab === "analysis") showAnalysisPanel();
  else showReviewPanel();
}

/** @param {string} name */
function openTab(name) {
  tab = name;
  for (const button of document.querySelectorAll("[role=tab]")) {
    const selected = button.id === `tab-${name}`;
    button.setAttribute("aria-selected", String(selected));
    button.setAttribute("tabindex", selected ? "0" : "-1");
    need(button.getAttribute("aria-controls") ?? "").hidden = !selected;
  }
  showPanels();
}

/** @returns {Map<number, string>} */
function verdicts() {
  return new Map((review?.moves ?? []).map((move) => [move.node, move.verdict]));
}

function showMoves() {
  if (position && game) moveList(need("panel-moves"), { tree: position.tree, node: position.node, look: game.look, verdicts: verdicts() }, go);
}

function showGraph() {
  if (!position || !game) return;
  const place = need("graph");
  const shown = position.path.map((node) => values.get(node) ?? null);
  place.hidden = shown.filter((value) => value !== null).length < 2;
  if (place.hidden) return;
  const path = position.path;
  const marks = mistakes(review).map((move) => ({ ply: path.indexOf(move.node), kind: move.verdict }));
  place.className = `graph ${game.look}`;
  valueGraph(
    place,
    {
      values: shown,
      ply: position.ply,
      marks,
      label: t("graph.title"),
      name: (ply) => `${t("moves.ply", { ply })} ${moveName(nodes.get(path[ply])?.text ?? "")}`,
    },
    (ply) => go(path[ply]),
  );
}

function showAnalysisPanel() {
  if (position && game) analysisPanel.show({ on: analysing, analysis, layers, owned: game.owned, mover: position.to_play, texts: game.texts });
}

/** @param {boolean} on */
function analyse(on) {
  analysing = on;
  analysis = null;
  sequence = [];
  connection.send({ do: "analyse", on });
  showControls();
  showOverlay();
  if (tab === "analysis") showAnalysisPanel();
}

function startReview() {
  openTab("review");
  if (review || !position || position.tree.length < 2) return;
  review = { progress: [0, position.path.length - 1], values: [], moves: [], accuracy: [null, null], done: false };
  reviewed = position.path;
  connection.send({ do: "review" });
  showResult();
  showReviewPanel();
}

/** @param {any} message */
function showReview(message) {
  if (!position) return;
  review = message;
  message.values.forEach((/** @type {number | null} */ value, /** @type {number} */ ply) => {
    if (value !== null && reviewed[ply] !== undefined) values.set(reviewed[ply], value);
  });
  showOverlay();
  showPanels();
}

function showReviewPanel() {
  if (!position || !game) return;
  reviewPanel(
    need("panel-review"),
    { review, game, mover: (node) => nodes.get(node)?.mover ?? 0, node: position.node, ready: position.tree.length > 1 },
    {
      start: startReview,
      stop: () => connection.send({ do: "stop" }),
      show: (move) => go(nodes.get(move.node)?.parent ?? null),
      next: () => nextMistake(1),
    },
  );
}

/** Goes to the position before the next mistake (or the one before), in the order of play. @param {number} way */
function nextMistake(way) {
  if (!position) return;
  const parents = mistakes(review).map((move) => ({ ply: move.ply - 1, node: nodes.get(move.node)?.parent ?? null })).sort((a, b) => way * (a.ply - b.ply));
  const ply = position.ply;
  const next = parents.find((place) => way * (place.ply - ply) > 0) ?? parents[0];
  if (next) go(next.node);
}

// ── What the visitor does ──

/** @param {number} action */
function play(action) {
  if (position) connection.send({ do: "play", action, ply: position.ply });
}

/** @param {number | null | undefined} node */
function go(node) {
  if (node !== null && node !== undefined) connection.send({ do: "go", node });
}

/** @param {number} plies */
function step(plies) {
  if (position) go(position.path[Math.max(0, Math.min(position.path.length - 1, position.ply + plies))]);
}

function passAction() {
  const action = game?.cells.indexOf(null) ?? -1;
  return action >= 0 ? action : null;
}

/** @param {number | null} action */
function confirmBar(action) {
  const bar = need("confirm");
  bar.hidden = action === null;
  if (action !== null && game) need("confirm-yes").textContent = t("do.confirm", { move: moveName(game.texts[action]) });
}

/** @param {boolean} here @param {Game} [shown] */
function openDialog(here, shown) {
  const about = shown ?? game;
  if (!welcome || !about) return;
  newGameDialog(need("new", HTMLDialogElement), welcome, { game: about, here }, (choice) => {
    if (here) {
      connection.send({ do: "seats", seats: choice.seats });
    } else {
        connection.send({ do: "new", ...choice });
    }
    openTab("moves");
  });
}

function resign() {
  const dialog = need("ask", HTMLDialogElement);
  dialog.replaceChildren(
    h(
      "form",
      { method: "dialog", class: "sheet small" },
      h("p", {}, t("do.resign-sure")),
      h(
        "footer",
        {},
        h("button", { class: "quiet" }, t("page.cancel")),
        h("button", { class: "primary", id: "resign-yes", onclick: () => connection.send({ do: "resign" }) }, t("do.resign")),
      ),
    ),
  );
  dialog.showModal();
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    toast(t("say.copied"));
  } catch {
    // Without a secure context there is no clipboard: show it to be copied by hand.
    toast(location.href);
  }
}

/** @param {string} name @param {string} text */
function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  toast(t("say.saved", { name }));
}

/** @param {File | undefined} file */
async function load(file) {
  if (!file) return;
  if (file.size > LARGEST_FILE) {
    toast(t("say.too-big"));
    return;
  }
  const text = await file.text();
  connection.send({ do: "load", format: /\.json$/i.test(file.name) || text.trimStart().startsWith("{") ? "json" : "sgf", text });
  openTab("moves");
}

/**
 * @typedef {object} Control
 * @property {string} name
 * @property {string} [picture]
 * @property {() => void} act
 * @property {boolean} [off]
 * @property {boolean} [pressed]
 */

function showControls() {
  if (!position || !game) return;
  const over = position.result !== null;
  const programs = position.seats.every((seat) => seat !== "human");
  const pass = passAction();
  /** @param {Control} control */
  const button = ({ name, picture = name, act, off, pressed }) =>
    h(
      "button",
      { type: "button", class: "control", id: `do-${name}`, disabled: off, "aria-pressed": pressed === undefined ? null : String(pressed), onclick: act },
      icon(picture),
      h("span", {}, t(`do.${name}`)),
    );
  const paused = position.paused;
  const main = [
    button({ name: "new", act: () => openDialog(false) }),
    button({ name: "undo", act: () => connection.send({ do: "undo" }), off: position.ply === 0 || programs }),
    button({ name: "hint", act: () => connection.send({ do: "hint" }), off: over || programs }),
    programs
      ? button({ name: paused ? "go-on" : "pause", picture: paused ? "play" : "pause", act: () => connection.send({ do: "pause", on: !paused }), off: over })
      : pass !== null && button({ name: "pass", act: () => play(pass), off: !mayPlay() || !position.legal.includes(pass) }),
    !programs && button({ name: "resign", act: resign, off: over || position.ply === 0 }),
    button({ name: "analyse", act: () => (analyse(!analysing), analysing && openTab("analysis")), pressed: analysing }),
    button({ name: "review", act: startReview, off: position.tree.length < 2 }),
  ];
  const details = need("controls").querySelector("details");
  const focused = need("controls").contains(document.activeElement) ? document.activeElement?.id : "";
  need("controls").replaceChildren(
    ...main.filter((control) => control !== false),
    h(
      "details",
      { class: "more", open: details?.open },
      h("summary", { class: "control", "aria-label": t("do.more") }, icon("more"), h("span", {}, t("do.more"))),
      h(
        "div",
        { class: "menu" },
        button({ name: "swap", act: () => connection.send({ do: "swap" }), off: programs || over }),
        h("button", { type: "button", class: "control", id: "do-here", onclick: () => openDialog(true) }, icon("person"), h("span", {}, t("new.from-here"))),
        button({ name: "link", act: copyLink }),
        button({ name: "load", act: () => need("file").click() }),
        game.sgf && button({ name: "save-sgf", picture: "save", act: () => connection.send({ do: "save", format: "sgf" }) }),
        button({ name: "save-json", picture: "save", act: () => connection.send({ do: "save", format: "json" }) }),
      ),
    ),
  );
  if (focused) document.getElementById(focused)?.focus();
  const [ply, end] = [position.ply, position.path.length - 1];
  /** @param {string} name @param {number} plies @param {boolean} off */
  const stepper = (name, plies, off) =>
    h("button", { type: "button", class: "round", id: `step-${name}`, "aria-label": t(`do.${name}`), title: t(`do.${name}`), disabled: off, onclick: () => step(plies) }, icon(name));
  const held = need("steps").contains(document.activeElement) ? document.activeElement?.id : "";
  need("steps").replaceChildren(stepper("first", -Infinity, ply === 0), stepper("back", -1, ply === 0), h("span", { class: "count" }, `${ply} / ${end}`), stepper("forward", 1, ply === end), stepper("last", Infinity, ply === end));
  if (held) document.getElementById(held)?.focus();
}

// ── Listening ──

/** What a key does; help.js lists them. @type {Record<string, () => void>} */
const KEYS = {
  n: () => openDialog(false),
  u: () => press("do-undo"),
  h: () => press("do-hint"),
  p: () => press("do-pass"),
  a: () => press("do-analyse"),
  r: () => press("do-review"),
  m: () => nextMistake(1),
  M: () => nextMistake(-1),
  b: () => board.focus(),
  l: () => void copyLink(),
  o: () => need("file").click(),
  d: turnLight,
  "[": () => step(-1),
  "]": () => step(1),
  ArrowLeft: () => step(-1),
  ArrowRight: () => step(1),
  Home: () => step(-Infinity),
  End: () => step(Infinity),
  "?": openHelp,
};

/** Does what a button does, if it may. @param {string} id */
function press(id) {
  const button = document.getElementById(id);
  if (button instanceof HTMLButtonElement && !button.disabled) button.click();
}

function openHelp() {
  if (game) helpDialog(need("help", HTMLDialogElement), game, welcome?.docs ?? false);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target instanceof HTMLElement && event.target.matches("input:not([type=checkbox]), select, [role=tab]")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

need("skip").addEventListener("click", (event) => {
  event.preventDefault();
  board.focus();
});
need("help-open").addEventListener("click", openHelp);
need("confirm-yes").addEventListener("click", () => board.confirm());
need("confirm-no").addEventListener("click", () => board.choose(null));
need("file").addEventListener("change", (event) => {
  const input = /** @type {HTMLInputElement} */ (event.target);
  void load(input.files?.[0]);
  input.value = "";
});

for (const button of document.querySelectorAll("[role=tab]")) {
  const name = button.id.replace("tab-", "");
  button.addEventListener("click", () => openTab(name));
  button.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[/** @type {KeyboardEvent} */ (event).key];
    if (!way) return;
    const all = [...document.querySelectorAll("[role=tab]")];
    const next = all[(all.indexOf(button) + way + all.length) % all.length];
    openTab(next.id.replace("tab-", ""));
    if (next instanceof HTMLElement) next.focus();
  });
}

// A menu closes when something else is pressed, and a dialog when its backdrop is.
document.addEventListener("click", (event) => {
  const open = document.querySelector("details.more[open]");
  if (open && event.target instanceof Node && !open.querySelector("summary")?.contains(event.target)) open.removeAttribute("open");
  if (event.target instanceof HTMLDialogElement) event.target.close();
});

let dragged = 0;
addEventListener("dragenter", () => (need("drop").hidden = ++dragged === 0));
addEventListener("dragleave", () => (need("drop").hidden = --dragged <= 0));
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  dragged = 0;
  need("drop").hidden = true;
  void load(event.dataTransfer?.files[0]);
});

addEventListener("hashchange", () => {
  const place = readLink(location.hash);
  if (place) openPlace(place);
});
