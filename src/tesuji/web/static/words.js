/** @file The visitor's language and light: chosen, kept, applied. */

import { CATALOGUE, LANGUAGES, LANGUAGE_NAMES } from "./locales.js";
import { h, need } from "./dom.js";

/** What the visitor chose before. A browser that keeps nothing is fine. */
export const kept = {
  /** @param {string} key @returns {any} */
  get(key) {
    try {
      return JSON.parse(localStorage.getItem(`tesuji.${key}`) ?? "null");
    } catch {
      return null;
    }
  },
  /** @param {string} key @param {unknown} value */
  set(key, value) {
    try {
      localStorage.setItem(`tesuji.${key}`, JSON.stringify(value));
    } catch {
      // Private windows may refuse; the choice then lasts as long as the page.
    }
  },
};

/** The best of our languages for a browser that asks for these. @param {readonly string[]} asked */
function best(asked) {
  for (const tag of asked) {
    if (/^zh\b.*(hant|tw|hk|mo)/i.test(tag)) return "zh-Hant";
    if (/^zh\b/i.test(tag)) return "zh-Hans";
    if (/^en\b/i.test(tag)) return "en";
  }
  return "en";
}

/** @type {string} */
let language = kept.get("language") ?? best(navigator.languages);
if (!(/** @type {readonly string[]} */ (LANGUAGES).includes(language))) language = "en";

export function currentLanguage() {
  return language;
}

/** Whether the catalogue has this key. @param {string} key */
export function known(key) {
  return Object.hasOwn(CATALOGUE, key);
}

/**
 * A text in the visitor's language: `t("say.played", {side: "Black", move: "e5"})`.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  const row = CATALOGUE[key];
  if (!row) throw new Error(`the catalogue has no ${key}`);
  const text = row[LANGUAGES.findIndex((name) => name === language)];
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** Fills in the texts of the page itself: data-t for content, data-t-label for names of buttons. */
export function translatePage() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.getAttribute("data-t") ?? "");
  for (const element of document.querySelectorAll("[data-t-label]")) {
    const text = t(element.getAttribute("data-t-label") ?? "");
    element.setAttribute("aria-label", text);
    element.setAttribute("title", text);
  }
}

/** The switches for language and light in the page's head. @param {() => void} changed */
export function switches(changed) {
  const select = need("language", HTMLSelectElement);
  select.replaceChildren(...LANGUAGES.map((name, number) => h("option", { value: name, lang: name, selected: name === language }, LANGUAGE_NAMES[number])));
  select.addEventListener("change", () => {
    language = select.value;
    kept.set("language", language);
    translatePage();
    changed();
  });
  const light = () => kept.get("light") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const apply = () => document.documentElement.setAttribute("data-light", light());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  const turn = () => {
    kept.set("light", light() === "dark" ? "light" : "dark");
    apply();
  };
  need("light").addEventListener("click", turn);
  apply();
  translatePage();
  return { turn };
}
