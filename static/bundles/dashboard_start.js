"use strict";
(() => {
  window.importShim = Object.assign((address) => import(address), { addImportMap() {
  } });
  var { token, root } = JSON.parse(document.getElementById("session").textContent);
  var fail = (text) => {
    const waiting = document.getElementById("waiting");
    if (waiting) waiting.textContent = text;
  };
  Bokeh.set_log_level("warn");
  Bokeh.embed.embed_items({}, [{ token, roots: { [root]: "page" }, root_ids: [root], use_for_title: false }]).then((views) => views.length || fail("The server does not answer. Is it still running? Then load this page again."), (error) => fail(`The dashboard cannot start: ${error.message}`));
})();
