/* The actions of the page around the viewer: buttons where there is room, else a menu. */

import { h, icon } from "./dom.js";
import { Menu } from "./menu.js";

/**
 * Buttons and a menu, of which the style sheet shows one.
 * @param {Viewer} app
 */
export function actions(app) {
  const all = app.options.actions;
  if (!all.length) return null;
  const more = h("button.fv-icon", { type: "button", title: "Actions", "aria-label": "Actions" }, icon("more"));
  const items = all.map((action) => ({ content: face(action), title: action.title, run: () => act(app, action) }));
  const menu = new Menu(more, "Actions", items);
  app.stops.push(() => menu.destroy());
  const buttons = all.map((action) =>
    h("button.fv-button", { type: "button", title: action.title, onclick: () => act(app, action) }, face(action)),
  );
  return [h("div.fv-actions-wide", null, buttons), menu.element];
}

/**
 * Runs an action; a failure is shown, not lost.
 * @param {Viewer} app
 * @param {ViewerAction} action
 */
async function act(app, action) {
  try {
    await action.run(app);
  } catch (error) {
    app.say(`${action.label}: ${error instanceof Error ? error.message : error}`);
    throw error;
  }
}

/** @param {ViewerAction} action */
function face(action) {
  return [action.icon ? icon(action.icon) : null, action.label];
}
