/*
 * Shows the page, and then connects it to its session: Bokeh's websocket, and the Panel component that it brings.
 *
 * The server answers `session` as soon as it has loaded Panel. The page is complete without: only what a user asks of
 * the server waits. Bokeh's scripts are loaded when the page is painted, for they keep the browser busy for a while.
 */

import { Channel } from "./channel.js";

const HOLDER = "session"; // the element for what Panel renders

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const { values, libraries } = JSON.parse(byId("start").textContent);
const channel = new Channel(values);

// Panel loads a component's module by this function of a polyfill that every browser of today can do without.
window.importShim = Object.assign((/** @type {string} */ address) => import(address), { addImportMap() {} });

/** @returns {Promise<void>} */
const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/** @param {HTMLElement} element */
const loaded = (element) =>
  new Promise((resolve, reject) => {
    element.addEventListener("load", resolve);
    element.addEventListener("error", () => reject(new Error("a file of this server cannot be loaded")));
  });

async function show() {
  const page = byId("page");
  const shadow = page.attachShadow({ mode: "open" });
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: page.dataset.style });
  const root = document.createElement("div");
  root.style.height = "100%";
  shadow.append(style, root);
  await loaded(style).catch((error) => console.warn(error.message));
  FreezerDashboard.mount(root, channel);
  byId("waiting").remove();
}

async function session() {
  const response = await fetch(channel.url("session"));
  if (!response.ok) throw new Error((await response.json()).error);
  return response.json();
}

/** Runs Bokeh's scripts in their order. */
async function load() {
  const scripts = libraries.map((/** @type {string} */ src) =>
    Object.assign(document.createElement("script"), { src, async: false }),
  );
  const all = Promise.all(scripts.map(loaded));
  document.head.append(...scripts);
  await all;
}

async function connect() {
  await painted(); // a page in the background waits here; a session that waited with it would be gone
  const [{ token, root, page }] = await Promise.all([session(), load()]);
  document.addEventListener("freezer-session", (event) =>
    channel.connect(/** @type {CustomEvent} */ (event).detail, page),
  );
  Bokeh.set_log_level("warn");
  const views = await Bokeh.embed.embed_items({}, [
    { token, roots: { [root]: HOLDER }, root_ids: [root], use_for_title: false },
  ]);
  if (!views.length) throw new Error("the server does not answer");
  document.documentElement.dataset.session = "open"; // for programs that drive the page
}

show()
  .then(connect)
  .catch((error) => {
    const text = `The dashboard cannot connect: ${error.message}. Is freezer-ui still running? Then load this page again.`;
    const waiting = document.getElementById("waiting");
    if (waiting) waiting.textContent = text;
    channel.close(text);
    console.error(text);
  });
