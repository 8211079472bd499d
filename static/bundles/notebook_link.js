var PROTOCOL = 1;
function initialize({ model }) {
  const id = model.get("view_id");
  const shown = /* @__PURE__ */ new Map();
  const post = (frame, message) => frame.postMessage({ freezer: PROTOCOL, id, ...message }, "*");
  function spread() {
    const state = model.get("state");
    for (const [frame, text] of shown) if (text !== textOf(state)) post(frame, { type: "restore", state });
  }
  function hear({ data, source }) {
    if (data?.freezer !== PROTOCOL || data.id !== id || !data.state) return;
    shown.set(source, textOf(data.state));
    if (data.type === "ready" && !covers(data.state, model.get("state"))) return spread();
    if (textOf(model.get("state")) === textOf(data.state)) return;
    model.set("state", data.state);
    model.save_changes();
  }
  window.addEventListener("message", hear);
  model.on("change:state", spread);
  for (const frame of document.querySelectorAll("iframe[data-freezer-view]")) {
    if (frame.dataset.freezerView === id) post(frame.contentWindow, { type: "hello" });
  }
  return () => {
    window.removeEventListener("message", hear);
    model.off("change:state", spread);
  };
}
function textOf(state) {
  return JSON.stringify(Object.entries(state).sort(([one], [other]) => one < other ? -1 : 1));
}
function covers(state, part) {
  return Object.entries(part).every(([key, value]) => JSON.stringify(state[key]) === JSON.stringify(value));
}
var link_default = { initialize };
export { link_default as default };
