/* A viewer inside another page: it follows that page's theme, and tells and takes what is shown, by messages. */

import { DEFAULTS, fromFragment, toFragment } from "../viewer/state.js";
import { PROTOCOL } from "./protocol.js";

/**
 * Ties a viewer to the page around its frame.
 * @param {Viewer} viewer what `mount` returned
 * @param {string} id what the viewer is called in messages; empty: send and take none
 */
export const joinPage = (viewer, id) => {
  followTheme(viewer);
  if (id) exchange(viewer, id);
};

/** @param {Viewer} viewer */
function followTheme(viewer) {
  const body = bodyAround();
  if (!body) return;
  const follow = () => viewer.setTheme(themeOf(body));
  follow();
  const watch = new MutationObserver(follow);
  watch.observe(body, { attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
}

/** The body of the page around, null where that page is of another origin. */
function bodyAround() {
  try {
    return window.parent.document.body;
  } catch (/** @type {any} */ refused) {
    if (refused.name !== "SecurityError") throw refused;
    return null;
  }
}

/**
 * "light" or "dark" as JupyterLab, Notebook, nbconvert or VS Code mark their page; "auto" for any other page.
 * @param {HTMLElement} body
 */
function themeOf(body) {
  const { jpThemeLight, vscodeThemeKind } = body.dataset;
  if (jpThemeLight) return jpThemeLight === "true" ? "light" : "dark";
  if (vscodeThemeKind) return vscodeThemeKind.endsWith("light") ? "light" : "dark";
  return "auto";
}

/**
 * @param {Viewer} viewer
 * @param {string} id
 */
function exchange(viewer, id) {
  // The target is "*": the page around may be of an origin that has no name. What is sent is no secret to it.
  const post = (/** @type {string} */ type, /** @type {any} */ parts) =>
    window.parent.postMessage({ freezer: PROTOCOL, id, type, ...parts }, "*");
  const ready = () => post("ready", { state: viewer.state(), theme: viewer.theme() });
  const commands = {
    hello: ready,
    navigate: (/** @type {{ patch: any }} */ { patch }) => viewer.navigate(clean(patch)),
    restore: (/** @type {{ state: any }} */ { state }) => {
      const before = JSON.stringify(viewer.state());
      viewer.restore(clean(state)); // tells no event
      if (JSON.stringify(viewer.state()) !== before) post("state", { state: viewer.state() });
    },
    theme: (/** @type {{ theme: any }} */ { theme }) => viewer.setTheme(theme),
  };
  window.addEventListener("message", ({ data, source }) => {
    if (source !== window.parent || data?.freezer !== PROTOCOL || data.id !== id) return;
    if (Object.hasOwn(commands, data.type)) /** @type {Record<string, any>} */ (commands)[data.type](data);
  });
  viewer.on("state", (state) => post("state", { state }));
  viewer.on("theme", (theme) => post("theme", { theme }));
  ready();
}

/**
 * A state that came from outside, by way of a link's text, which drops what is no state.
 * @param {State} state
 */
function clean(state) {
  const cleared = Object.fromEntries(Object.entries(state).filter(([key, value]) => value === null && key in DEFAULTS));
  return { ...cleared, ...fromFragment(toFragment(state)) };
}
