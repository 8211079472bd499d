function render({ model }) {
  document.dispatchEvent(new CustomEvent("freezer-session", { detail: model }));
  return document.createElement("div");
}
export { render };
