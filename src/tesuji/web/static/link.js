/** @file Links that restore a position: `#go9:komi=5.5/e5-c3-pass`. */

/** @typedef {{game: string, numbers: Record<string, number>, moves: string[]}} Place */

/** @param {Place} place @returns {string} */
export function writeLink({ game, numbers, moves }) {
  const settings = Object.entries(numbers).map(([key, value]) => `${key}=${value}`);
  return `#${game}${settings.length ? `:${settings.join(",")}` : ""}${moves.length ? `/${moves.join("-")}` : ""}`;
}

/** @param {string} hash @returns {Place | null} */
export function readLink(hash) {
  const found = /^#([a-z0-9-]+)(?::([a-z0-9_=.,]*))?(?:\/([a-z0-9-]*))?$/.exec(hash);
  if (!found) return null;
  /** @type {Record<string, number>} */
  const numbers = {};
  for (const setting of (found[2] ?? "").split(",").filter(Boolean)) {
    const [key, value] = setting.split("=");
    if (!Number.isFinite(Number(value))) return null;
    numbers[key] = Number(value);
  }
  return { game: found[1], numbers, moves: (found[3] ?? "").split("-").filter(Boolean) };
}
