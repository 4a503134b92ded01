/** @file What things are called on the pages: games, sizes, sides, players, moves, chances. */

import { known, t } from "./words.js";

/**
 * A game of the server's welcome.
 * @typedef {import("./board.js").Shape & {
 *   name: string, family: string, title: string, actions: number,
 *   numbers: Record<string, {default: number, step: number, least: number, most: number}>,
 *   sgf: boolean, owned: boolean, scored: boolean,
 * }} Game
 */

/** @typedef {{name: string, rating: number | null, error: number | null, player: string}} Level */

/** @param {Game} game */
export function gameName(game) {
  return known(`game.${game.family}`) ? t(`game.${game.family}`) : game.title;
}

/** What tells a game from the others of its family. @param {Game} game */
export function sizeName(game) {
  if (known(`variant.${game.name}`)) return t(`variant.${game.name}`);
  const [rows, cols] = game.look === "edges" ? [(game.rows - 1) / 2, (game.cols - 1) / 2] : [game.rows, game.cols];
  return `${rows}×${cols}`;
}

/** @param {Game} game @param {number} side */
export function sideName(game, side) {
  return t(`side.${game.look}.${side}`);
}

/** @param {string} seat who plays: "human", a level, or "player:" and a player's text */
export function seatName(seat) {
  if (seat === "human") return t("player.human");
  return known(`level.${seat}`) ? t(`level.${seat}`) : seat.replace(/^player:/, "");
}

/** @param {Level | undefined} level */
export function ratingName(level) {
  if (!level || level.rating === null || level.rating === undefined) return "";
  return t("level.rating", { rating: Math.round(level.rating), error: Math.round(level.error ?? 0) });
}

/** @param {string} text */
export function moveName(text) {
  return text === "pass" ? t("say.pass") : text;
}

/** The chance of a side in percent; values belong to First. @param {number} value @param {number} side */
export function percent(value, side) {
  return Math.round(50 + 50 * (side === 0 ? value : -value));
}

/** A round number of a large count: 12.3k. @param {number} count */
export function short(count) {
  if (count < 10000) return String(count);
  return count < 1e6 ? `${(count / 1000).toFixed(count < 1e5 ? 1 : 0)}k` : `${(count / 1e6).toFixed(1)}M`;
}
