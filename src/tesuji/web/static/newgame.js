/** @file The dialog of a new game: a game by its picture, size, rules, who plays. */

import { Board } from "./board.js";
import { h, icon } from "./dom.js";
import { gameName, ratingName, seatName, sideName, sizeName } from "./names.js";
import { kept, known, t } from "./words.js";

/** @typedef {import("./names.js").Game} Game */
/** @typedef {import("./names.js").Level} Level */
/** @typedef {{game: string, numbers: Record<string, number>, seats: string[]}} Choice */

/** What a visitor chose last: a game a family, and the rest. */
const DEFAULTS = { family: "ultimate", games: /** @type {Record<string, string>} */ ({}), who: "program", side: "first", level: "casual", other: "club" };

/** The size that people play, where nothing was chosen before. @type {Record<string, string>} */
const USUAL = { gomoku: "gomoku15", nogo: "nogo9", dots: "dots3", go: "go9" };

/** Pictures of the families: a position each, on a board of the same look. @type {Record<string, {rows: string[], owners?: string[]}>} */
const PICTURES = {
  ultimate: {
    rows: ["XO.......", "..X......", "..O......", ".........", "....X....", "...O.....", "......O..", ".......X.", "......X.."],
    owners: ["XXX...OOO", "XXX...OOO", "XXX...OOO", ".........", ".........", ".........", ".........", ".........", "........."],
  },
  gomoku: { rows: [".....O", ".O..X.", "..OX..", "..XO..", ".X..O.", "......"] },
  nogo: { rows: [".X.X.", "O.X.O", ".O.X.", "O.O..", ".X..O"] },
  dots: { rows: ["+-+-+.+", "|X| . .", "+-+-+-+", ". |O|O|", "+.+-+-+", "| . . |", "+-+.+-+"] },
  go: { rows: ["..O..", ".OX..", "OX.X.", ".OXO.", "..O.."] },
};

/** A picture of a family, drawn by the board itself. @param {HTMLElement} host @param {Game} game */
function picture(host, game) {
  const known = PICTURES[game.family];
  const rows = known?.rows ?? Array.from({ length: game.rows }, () => ".".repeat(game.cols));
  const cells = rows.flatMap((row, y) => [...row].flatMap((_, x) => (game.look !== "edges" || (x + y) % 2 ? [y * row.length + x] : [])));
  const board = new Board(host);
  board.set({ rows: rows.length, cols: rows[0].length, look: game.look, block: game.block, cells, texts: cells.map(String) }, "");
  const owners = known?.owners?.flatMap((row) => [...row].map((glyph) => ({ X: 1, O: -1 })[glyph] ?? 0)) ?? null;
  board.show({ glyphs: rows, legal: [], mover: 0, open: false, owners });
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {{games: Game[], levels: Record<string, Level[]>}} welcome
 * @param {{game: Game, here: boolean}} now the game on the board; `here`: only the players are asked, for the position as it stands
 * @param {(choice: Choice) => void} start
 */
export function newGameDialog(dialog, welcome, now, start) {
  const choice = { ...structuredClone(DEFAULTS), ...kept.get("choice") };
  if (now.here) choice.games[(choice.family = now.game.family)] = now.game.name;
  const families = [...new Set(welcome.games.map((game) => game.family))];
  if (!families.includes(choice.family)) choice.family = families[0];
  /** Rule numbers that were set, and for which game. @type {Record<string, number>} */
  let numbers = {};
  let numbered = "";

  /** @param {string} family */
  const chosenOf = (family) => {
    const members = welcome.games.filter((game) => game.family === family);
    return members.find((game) => game.name === choice.games[family]) ?? members.find((game) => game.name === USUAL[family]) ?? members[0];
  };

  /** @param {string} group @param {string} value @param {boolean} checked @param {() => void} pick @param {(Node | string | false)[]} content @param {string} [kind] */
  const radio = (group, value, checked, pick, content, kind = "chip") =>
    h("label", { class: kind }, h("input", { type: "radio", name: group, value, checked, autofocus: checked && kind === "card", onchange: pick }), h("span", {}, ...content));

  /** @param {string} legend @param {Node[]} content @param {string} [note] */
  const field = (legend, content, note = "") => h("fieldset", {}, h("legend", {}, legend, note && h("small", {}, note)), h("div", { class: "chips" }, ...content));

  /** @param {Game} game @param {"level" | "other"} which */
  const levels = (game, which) => {
    const offered = welcome.levels[game.name] ?? [];
    if (!offered.some((level) => level.name === choice[which])) choice[which] = offered[Math.min(2, offered.length - 1)]?.name ?? "";
    return offered.map((level) =>
      radio(which, level.name, level.name === choice[which], () => (choice[which] = level.name), [seatName(level.name), h("small", {}, ratingName(level))], "chip level"),
    );
  };

  /** What the numbers beside the levels are, where there are some. @param {Game} game */
  const ratings = (game) => ((welcome.levels[game.name] ?? []).some((level) => level.rating !== null) ? t("new.ratings") : "");

  /** @param {Game} game @param {number} side */
  const pip = (game, side) => h("span", { class: `pip ${game.look} ${side === 0 ? "first" : "second"}` });

  // Pictures are drawn once; the rest is drawn anew when a choice changes it.
  const thumbs = new Map(
    families.map((family) => {
      const thumb = h("span", { class: "thumb" });
      picture(thumb, chosenOf(family));
      return [family, thumb];
    }),
  );

  const draw = () => {
    const game = now.here ? now.game : chosenOf(choice.family);
    const focused = document.activeElement instanceof HTMLInputElement && dialog.contains(document.activeElement) ? [document.activeElement.name, document.activeElement.value] : null;
    const parts = [];
    if (!now.here) {
      const cards = families.map((family) =>
        radio("family", family, family === choice.family, () => ((choice.family = family), draw()), [thumbs.get(family) ?? "", h("b", {}, gameName(chosenOf(family)))], "card"),
      );
      parts.push(h("fieldset", {}, h("legend", { class: "unseen" }, t("lab.game")), h("div", { class: "cards" }, ...cards)));
      if (known(`about.${game.family}`)) parts.push(h("p", { class: "faint about" }, t(`about.${game.family}`)));
      const members = welcome.games.filter((member) => member.family === choice.family);
      if (members.length > 1) {
        parts.push(field(t("new.size"), members.map((member) => radio("size", member.name, member === game, () => ((choice.games[choice.family] = member.name), draw()), [sizeName(member)]))));
      }
      if (numbered !== game.name) numbers = {};
      numbered = game.name;
      const rules = Object.entries(game.numbers).map(([key, range]) => {
        const name = known(`number.${key}`) ? t(`number.${key}`) : key;
        const flag = range.least === 0 && range.most === 1 && range.step === 1;
        const input = h("input", {
          ...(flag
            ? { type: "checkbox", role: "switch", checked: (numbers[key] ?? range.default) === 1 }
            : { type: "number", min: range.least, max: range.most, step: range.step, value: numbers[key] ?? range.default }),
          name: key,
          onchange: () => (numbers[key] = flag ? Number(input.checked) : Number(input.value)),
        });
        return h("label", { class: flag ? "toggle" : "number" }, flag ? input : h("span", {}, name), flag ? h("span", {}, name) : input);
      });
      if (rules.length) parts.push(field(t("new.rules"), rules));
    }
    parts.push(
      field(t("new.who"), [
        radio("who", "program", choice.who === "program", () => ((choice.who = "program"), draw()), [icon("program"), t("new.program")]),
        radio("who", "humans", choice.who === "humans", () => ((choice.who = "humans"), draw()), [icon("person"), t("new.humans")]),
        radio("who", "watch", choice.who === "watch", () => ((choice.who = "watch"), draw()), [icon("play"), t("new.watch")]),
      ]),
    );
    if (choice.who === "program") {
      parts.push(
        field(t("new.side"), [
          radio("side", "first", choice.side === "first", () => (choice.side = "first"), [pip(game, 0), t("new.order", { side: sideName(game, 0), order: t("new.first") })]),
          radio("side", "second", choice.side === "second", () => (choice.side = "second"), [pip(game, 1), t("new.order", { side: sideName(game, 1), order: t("new.second") })]),
          radio("side", "random", choice.side === "random", () => (choice.side = "random"), [t("new.random")]),
        ]),
        field(t("new.level"), levels(game, "level"), ratings(game)),
      );
    } else if (choice.who === "watch") {
      parts.push(field(sideName(game, 0), levels(game, "level"), ratings(game)), field(sideName(game, 1), levels(game, "other"), ratings(game)));
    }
    dialog.setAttribute("aria-labelledby", "new-title");
    dialog.replaceChildren(
      h(
        "form",
        { method: "dialog", class: "sheet", onsubmit: submit },
        h("header", {}, h("h2", { id: "new-title" }, t(now.here ? "new.from-here" : "new.title")), h("button", { type: "button", class: "round", "aria-label": t("page.close"), onclick: () => dialog.close() }, icon("close"))),
        h("div", { class: "body" }, ...parts),
        h("footer", {}, h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, t("page.cancel")), h("button", { class: "primary", id: "new-start" }, t("new.start"))),
      ),
    );
    if (focused) /** @type {HTMLElement | null} */ (dialog.querySelector(`input[name="${focused[0]}"][value="${focused[1]}"]`))?.focus();
  };

  const submit = () => {
    const game = now.here ? now.game : chosenOf(choice.family);
    kept.set("choice", choice);
    const second = choice.side === "second" || (choice.side === "random" && Math.random() < 0.5);
    const person = second ? [choice.level, "human"] : ["human", choice.level];
    const seats = choice.who === "program" ? person : choice.who === "humans" ? ["human", "human"] : [choice.level, choice.other];
    start({ game: game.name, numbers, seats });
  };

  draw();
  dialog.showModal();
}

/** What a visitor who comes back gets at once; null for a new visitor. @param {{games: Game[], levels: Record<string, Level[]>}} welcome @returns {Choice | null} */
export function lastChoice(welcome) {
  const choice = kept.get("choice");
  const game = welcome.games.find((member) => member.name === (choice?.games?.[choice.family] ?? USUAL[choice?.family] ?? choice?.family));
  if (!choice || !game) return null;
  const seats = choice.side === "second" ? [choice.level, "human"] : ["human", choice.level];
  return { game: game.name, numbers: {}, seats: choice.who === "humans" ? ["human", "human"] : seats };
}
