/*
 * The Panel component's module: gives the page (FreezerDashboard) its root and its channel to the server.
 *
 * The channel has `page`, which names this page's uploads, and the values `site`, `library` and `jobs`; `on(name, callback)` tells their changes and returns what
 * ends that; `ask(message)` sends a message and promises the reply; `url(path, params)` is an address on the server;
 * `closed` is a promise that is kept, with a sentence, when the connection is lost.
 */

const PAGE = "freezer-ui page"; // in this tab's storage
const VALUES = ["site", "library", "jobs"];

class Channel {
  /** @param {any} model */
  constructor(model) {
    this.model = model;
    this.asked = new Map();
    this.count = 0;
    this.page = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("session")).textContent).page;
    model.on("msg:custom", (/** @type {any} */ message) => this.receive(message)); // Panel hands over the data, without an event
    this.closed = new Promise((resolve) => {
      model.document.on_event("connection_lost", () => resolve("The connection to the server is lost."));
    });
    this.closed.then((text) => this.giveUp(text));
    this.keepUploads();
  }

  /** A tab that is loaded again keeps what it has uploaded. */
  keepUploads() {
    const before = sessionStorage.getItem(PAGE);
    sessionStorage.setItem(PAGE, this.page);
    if (before) this.ask({ type: "take_over", page: before }).catch((error) => console.warn(error.message));
  }

  /**
   * @param {any} name
   * @param {any} callback
   */
  on(name, callback) {
    if (!VALUES.includes(name)) throw new Error(`the channel has no ${name}`);
    const tell = () => callback(/** @type {Record<string, any>} */ (this)[name]);
    this.model.on(name, tell);
    return () => this.model.off(name, tell);
  }

  /** @param {any} message */
  ask(message) {
    const id = (this.count += 1);
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      this.model.send_msg({ id, ...message });
    });
  }

  /** @param {{ id: any, reply: any, error: Error }} options */
  receive({ id, reply, error }) {
    const waiting = this.asked.get(id);
    if (!waiting) return;
    this.asked.delete(id);
    if (error === undefined) waiting.resolve(reply);
    else waiting.reject(new Error(/** @type {any} */ (error)));
  }

  /** @param {any} text */
  giveUp(text) {
    for (const { reject } of this.asked.values()) reject(new Error(text));
    this.asked.clear();
    this.ask = () => Promise.reject(new Error(text));
  }

  /** @param {any} path */
  url(path, params = {}) {
    const address = new URL(path, document.baseURI);
    for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value);
    return address.href;
  }
}

for (const name of VALUES) {
  Object.defineProperty(Channel.prototype, name, {
    get() {
      return this.model[name];
    },
  });
}

/** @param {any} style */
function loaded(style) {
  return new Promise((resolve) => {
    style.addEventListener("load", resolve);
    style.addEventListener("error", resolve);
  });
}

/** @param {{ model: any }} options */
export async function render({ model }) {
  const host = document.createElement("div");
  host.style.height = "100%";
  const shadow = host.attachShadow({ mode: "open" });
  const style = Object.assign(document.createElement("link"), {
    rel: "stylesheet",
    href: /** @type {HTMLElement} */ (document.getElementById("page")).dataset.style,
  });
  const root = document.createElement("div");
  root.style.height = "100%";
  shadow.append(style, root);
  loaded(style).then(() => {
    FreezerDashboard.mount(root, new Channel(model));
    document.getElementById("waiting")?.remove();
  });
  return host;
}
