/* The Panel component's module: hands the session's model to the page, which start.js has mounted already. */

/** @param {{ model: any }} options */
export function render({ model }) {
  document.dispatchEvent(new CustomEvent("freezer-session", { detail: model }));
  return document.createElement("div");
}
