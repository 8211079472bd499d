"use strict";
(() => {
  var PAGE = "freezer-ui page";
  var NAMES = ["site", "library", "jobs"];
  var Channel = class {
    constructor(values2) {
      this.values = values2;
      this.model = null;
      this.asked = /* @__PURE__ */ new Map();
      this.count = 0;
      this.waiting = [];
      this.listeners = new Map(NAMES.map((name) => [name, /* @__PURE__ */ new Set()]));
      this.close = (() => {
      });
      this.closed = new Promise((resolve) => this.close = resolve);
      this.page = "";
      this.connected = new Promise((resolve, reject) => {
        this.tellConnected = resolve;
        this.closed.then((text) => reject(new Error(text)));
      });
      this.connected.catch(() => {
      });
      this.closed.then((text) => this.giveUp(text));
    }
    get site() {
      return this.latest.site;
    }
    get library() {
      return this.latest.library;
    }
    get jobs() {
      return this.latest.jobs;
    }
    get latest() {
      return this.model ?? this.values;
    }
    connect(model, page) {
      this.model = model;
      model.on("msg:custom", (message) => this.receive(message));
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
    keepUploads() {
      const before = sessionStorage.getItem(PAGE);
      sessionStorage.setItem(PAGE, this.page);
      if (before) this.ask({ type: "take_over", page: before }).catch((error) => console.warn(error.message));
    }
    on(name, callback) {
      const listeners = this.listeners.get(name);
      if (!listeners) throw new Error(`the channel has no ${name}`);
      const tell = () => callback(this[name]);
      listeners.add(tell);
      return () => listeners.delete(tell);
    }
    ask(message) {
      const id = this.count += 1;
      return new Promise((resolve, reject) => {
        this.asked.set(id, { resolve, reject });
        if (this.model) this.model.send_msg({ id, ...message });
        else this.waiting.push({ id, ...message });
      });
    }
    receive({ id, reply, error }) {
      const waiting = this.asked.get(id);
      if (!waiting) return;
      this.asked.delete(id);
      if (error === void 0) waiting.resolve(reply);
      else waiting.reject(new Error(error));
    }
    giveUp(text) {
      for (const { reject } of this.asked.values()) reject(new Error(text));
      this.asked.clear();
      this.ask = () => Promise.reject(new Error(text));
    }
    url(path, params = {}) {
      const address = new URL(path, document.baseURI);
      for (const [name, value] of Object.entries(params)) address.searchParams.set(name, value);
      return address.href;
    }
  };
  var HOLDER = "session";
  var byId = (id) => document.getElementById(id);
  var { values, libraries } = JSON.parse(byId("start").textContent);
  var channel = new Channel(values);
  window.importShim = Object.assign((address) => import(address), { addImportMap() {
  } });
  var painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  var loaded = (element) => new Promise((resolve, reject) => {
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
  async function load() {
    const scripts = libraries.map((src) => Object.assign(document.createElement("script"), { src, async: false }));
    const all = Promise.all(scripts.map(loaded));
    document.head.append(...scripts);
    await all;
  }
  async function connect() {
    await painted();
    const [{ token, root, page }] = await Promise.all([session(), load()]);
    document.addEventListener("freezer-session", (event) => channel.connect(event.detail, page));
    Bokeh.set_log_level("warn");
    const views = await Bokeh.embed.embed_items({}, [{ token, roots: { [root]: HOLDER }, root_ids: [root], use_for_title: false }]);
    if (!views.length) throw new Error("the server does not answer");
    document.documentElement.dataset.session = "open";
  }
  show().then(connect).catch((error) => {
    const text = `The dashboard cannot connect: ${error.message}. Is freezer-ui still running? Then load this page again.`;
    const waiting = document.getElementById("waiting");
    if (waiting) waiting.textContent = text;
    channel.close(text);
    console.error(text);
  });
})();
