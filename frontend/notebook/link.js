/* The model of a notebook's view, as an anywidget without a view: carries the state between frames and kernel. */

import { PROTOCOL } from "./protocol.js";

/** @param {{ model: any }} options */
function initialize({ model }) {
  const id = model.get("view_id");
  const shown = new Map(); // what each frame shows, as text, by the frame's window

  const post = (/** @type {Window} */ frame, /** @type {any} */ message) =>
    frame.postMessage({ freezer: PROTOCOL, id, ...message }, "*");

  /** Brings the frames that show something else to the model's state. */
  function spread() {
    const state = model.get("state");
    for (const [frame, text] of shown) if (text !== textOf(state)) post(frame, { type: "restore", state });
  }

  /** @param {{ data: any, source: any }} options */
  function hear({ data, source }) {
    if (data?.freezer !== PROTOCOL || data.id !== id || !data.state) return;
    shown.set(source, textOf(data.state));
    // A page that has just opened is brought to where the view is, unless it only knows more of the same state.
    if (data.type === "ready" && !covers(data.state, model.get("state"))) return spread();
    if (textOf(model.get("state")) === textOf(data.state)) return;
    model.set("state", data.state);
    model.save_changes();
  }

  window.addEventListener("message", hear);
  model.on("change:state", spread);
  for (const frame of /** @type {NodeListOf<HTMLIFrameElement>} */ (
    document.querySelectorAll("iframe[data-freezer-view]")
  )) {
    if (frame.dataset.freezerView === id) post(/** @type {Window} */ (frame.contentWindow), { type: "hello" });
  }
  return () => {
    window.removeEventListener("message", hear);
    model.off("change:state", spread);
  };
}

/**
 * The same text for equal states, whatever the order of their words.
 * @param {any} state
 */
function textOf(state) {
  return JSON.stringify(Object.entries(state).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * @param {any} state
 * @param {any} part
 */
function covers(state, part) {
  return Object.entries(part).every(([key, value]) => JSON.stringify(state[key]) === JSON.stringify(value));
}

export default { initialize };
