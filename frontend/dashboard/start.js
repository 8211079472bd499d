/* Connects the page to its session: Bokeh's websocket, and the Panel component that it brings. */

// Panel loads a component's module by this function of a polyfill that every browser of today can do without.
window.importShim = Object.assign((/** @type {string} */ address) => import(address), { addImportMap() {} });

const { token, root } = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("session")).textContent);
const fail = (/** @type {any} */ text) => {
  const waiting = document.getElementById("waiting");
  if (waiting) waiting.textContent = text;
};

Bokeh.set_log_level("warn");
Bokeh.embed.embed_items({}, [{ token, roots: { [root]: "page" }, root_ids: [root], use_for_title: false }]).then(
  (/** @type {any} */ views) =>
    views.length || fail("The server does not answer. Is it still running? Then load this page again."),
  (/** @type {Error} */ error) => fail(`The dashboard cannot start: ${error.message}`),
);
