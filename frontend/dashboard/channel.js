/*
 * The page's channel to the server. The page has it from the start; the session joins later, when the server has
 * loaded Panel. Until then `ask` keeps the messages, and the values are those that the page came with.
 */

const PAGE = "freezer-ui page"; // in this tab's storage
const NAMES = /** @type {const} */ (["site", "library", "jobs"]);

/** See `mount` of app.js for what it offers. */
export class Channel {
  /** @param {{ site: Site, library: Library, jobs: JobMessage[] }} values */
  constructor(values) {
    this.values = values;
    this.model = null;
    /** @type {Map<number, { resolve: (reply: any) => void, reject: (error: Error) => void }>} */
    this.asked = new Map();
    this.count = 0;
    this.waiting = /** @type {object[]} */ ([]);
    this.listeners = new Map(NAMES.map((name) => [name, /** @type {Set<() => void>} */ (new Set())]));
    this.close = /** @type {(text: string) => void} */ (() => {});
    /** @type {Promise<string>} */
    this.closed = new Promise((resolve) => (this.close = resolve));
    this.page = ""; // id of this page's uploads, once it is connected
    /** Resolves when the session is there; rejects if it never comes. */
    this.connected = new Promise((resolve, reject) => {
      this.tellConnected = /** @type {() => void} */ (resolve);
      this.closed.then((text) => reject(new Error(text)));
    });
    this.connected.catch(() => {}); // the page shows a lost connection anyway
    this.closed.then((text) => this.giveUp(text));
  }

  /** Facts about the server. */
  get site() {
    return this.latest.site;
  }

  /** The examples and the recent traces. */
  get library() {
    return this.latest.library;
  }

  /** The recordings of this server. */
  get jobs() {
    return this.latest.jobs;
  }

  /**
   * The values as the session has them, or as the page came with them.
   * @returns {{ site: Site, library: Library, jobs: JobMessage[] }}
   */
  get latest() {
    return this.model ?? this.values;
  }

  /**
   * Connects the channel to its session.
   * @param {any} model of the Panel component
   * @param {string} page id of this page's uploads
   */
  connect(model, page) {
    this.model = model;
    model.on("msg:custom", (/** @type {any} */ message) => this.receive(message)); // Panel hands over the data, without an event
    model.document.on_event("connection_lost", () => this.close("The connection to the server is lost."));
    this.page = page;
    this.keepUploads();
    this.tellConnected();
    for (const message of this.waiting.splice(0)) model.send_msg(message);
    for (const name of NAMES) {
      const tell = () => this.listeners.get(name)?.forEach((callback) => callback());
      model.on(name, tell);
      if (JSON.stringify(model[name]) !== JSON.stringify(this.values[name])) tell();
    }
  }

  /** A tab that is loaded again keeps what it has uploaded. */
  keepUploads() {
    const before = sessionStorage.getItem(PAGE);
    sessionStorage.setItem(PAGE, this.page);
    if (before) this.ask({ type: "take_over", page: before }).catch((error) => console.warn(error.message));
  }

  /**
   * @template {"site" | "library" | "jobs"} Name
   * @param {Name} name
   * @param {(value: Channel[Name]) => void} callback
   */
  on(name, callback) {
    const listeners = this.listeners.get(name);
    if (!listeners) throw new Error(`the channel has no ${name}`);
    const tell = () => callback(this[name]);
    listeners.add(tell);
    return () => listeners.delete(tell);
  }

  /**
   * @template {keyof Replies} Type
   * @param {Question<Type>} message
   * @returns {Promise<Replies[Type]>}
   */
  ask(message) {
    const id = (this.count += 1);
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      if (this.model) this.model.send_msg({ id, ...message });
      else this.waiting.push({ id, ...message });
    });
  }

  /** @param {{ id: number, reply?: unknown, error?: string }} message */
  receive({ id, reply, error }) {
    const waiting = this.asked.get(id);
    if (!waiting) return;
    this.asked.delete(id);
    if (error === undefined) waiting.resolve(reply);
    else waiting.reject(new Error(error));
  }

  /** @param {string} text */
  giveUp(text) {
    for (const { reject } of this.asked.values()) reject(new Error(text));
    this.asked.clear();
    this.ask = () => Promise.reject(new Error(text));
  }

  /**
   * @param {string} path
   * @param {Record<string, string>} [params]
   */
  url(path, params = {}) {
    const address = new URL(path, document.baseURI);
    for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value);
    return address.href;
  }
}
