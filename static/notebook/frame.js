/* A viewer inside another page: it follows that page's theme, and tells and takes what is shown, by messages. */
"use strict";
var FreezerViewer = FreezerViewer || {};

(() => {
  const { DEFAULTS, toFragment, fromFragment } = FreezerViewer;
  const PROTOCOL = 1; // docs/viewer-protocol.md

  /**
   * Ties a viewer to the page around its frame.
   * @param {Viewer} viewer what FreezerViewer.mount gave
   * @param {string} id what the viewer is called in messages; empty: send and take none
   */
  FreezerViewer.joinPage = (viewer, id) => {
    followTheme(viewer);
    if (id) exchange(viewer, id);
  };

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
    } catch (refused) {
      if (refused.name !== "SecurityError") throw refused;
      return null;
    }
  }

  /** "light" or "dark" as JupyterLab, Notebook, nbconvert or VS Code mark their page; "auto" for any other page. */
  function themeOf(body) {
    const { jpThemeLight, vscodeThemeKind } = body.dataset;
    if (jpThemeLight) return jpThemeLight === "true" ? "light" : "dark";
    if (vscodeThemeKind) return vscodeThemeKind.endsWith("light") ? "light" : "dark";
    return "auto";
  }

  function exchange(viewer, id) {
    // The target is "*": the page around may be of an origin that has no name. What is sent is no secret to it.
    const post = (type, parts) => window.parent.postMessage({ freezer: PROTOCOL, id, type, ...parts }, "*");
    const ready = () => post("ready", { state: viewer.state(), theme: viewer.theme() });
    const commands = {
      hello: ready,
      navigate: ({ patch }) => viewer.navigate(clean(patch)),
      restore: ({ state }) => {
        const before = JSON.stringify(viewer.state());
        viewer.restore(clean(state)); // tells no event
        if (JSON.stringify(viewer.state()) !== before) post("state", { state: viewer.state() });
      },
      theme: ({ theme }) => viewer.setTheme(theme),
    };
    window.addEventListener("message", ({ data, source }) => {
      if (source !== window.parent || data?.freezer !== PROTOCOL || data.id !== id) return;
      if (Object.hasOwn(commands, data.type)) commands[data.type](data);
    });
    viewer.on("state", (state) => post("state", { state }));
    viewer.on("theme", (theme) => post("theme", { theme }));
    ready();
  }

  /** A state that came from outside, by way of a link's text, which drops what is no state. */
  function clean(state) {
    const cleared = Object.fromEntries(Object.entries(state).filter(([key, value]) => value === null && key in DEFAULTS));
    return { ...cleared, ...fromFragment(toFragment(state)) };
  }
})();
