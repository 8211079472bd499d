/* What a viewer listens to: keys, the system's theme, printing, its own size, and the browser's history. */

import { Keyboard } from "./keyboard.js";

/**
 * Adds the listeners; `app.stops` takes them off.
 * @param {Viewer} app
 */
export function listen(app) {
  const watch = (/** @type {EventTarget} */ where, /** @type {string} */ event, /** @type {EventListener} */ run) => {
    where.addEventListener(event, run);
    app.stops.push(() => where.removeEventListener(event, run));
  };
  const keyboard = new Keyboard(app);
  watch(app.options.keys === "page" ? document : app.root, "keydown", (event) => keyboard.hear(event));
  watch(app.dark, "change", () => app.render(app.current));
  watch(window, "beforeprint", () => app.printed.fill());
  watch(window, "afterprint", () => app.printed.clear());
  const sized = new ResizeObserver(() => app.measure() && app.render(app.current));
  sized.observe(app.root);
  app.stops.push(() => sized.disconnect());
  const page = app.page();
  if (app.options.hash) watch(window, "popstate", () => page === app.page() && app.follow());
}
