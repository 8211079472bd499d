var PAGE = "freezer-ui page";
var VALUES = ["site", "library", "jobs"];
var Channel = class {
  constructor(model) {
    this.model = model;
    this.asked = /* @__PURE__ */ new Map();
    this.count = 0;
    this.page = JSON.parse(document.getElementById("session").textContent).page;
    model.on("msg:custom", (message) => this.receive(message));
    this.closed = new Promise((resolve) => {
      model.document.on_event("connection_lost", () => resolve("The connection to the server is lost."));
    });
    this.closed.then((text) => this.giveUp(text));
    this.keepUploads();
  }
  keepUploads() {
    const before = sessionStorage.getItem(PAGE);
    sessionStorage.setItem(PAGE, this.page);
    if (before) this.ask({ type: "take_over", page: before }).catch((error) => console.warn(error.message));
  }
  on(name, callback) {
    if (!VALUES.includes(name)) throw new Error(`the channel has no ${name}`);
    const tell = () => callback(this[name]);
    this.model.on(name, tell);
    return () => this.model.off(name, tell);
  }
  ask(message) {
    const id = this.count += 1;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      this.model.send_msg({ id, ...message });
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
for (const name of VALUES) {
  Object.defineProperty(Channel.prototype, name, { get() {
    return this.model[name];
  } });
}
function loaded(style) {
  return new Promise((resolve) => {
    style.addEventListener("load", resolve);
    style.addEventListener("error", resolve);
  });
}
async function render({ model }) {
  const host = document.createElement("div");
  host.style.height = "100%";
  const shadow = host.attachShadow({ mode: "open" });
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: document.getElementById("page").dataset.style });
  const root = document.createElement("div");
  root.style.height = "100%";
  shadow.append(style, root);
  loaded(style).then(() => {
    FreezerDashboard.mount(root, new Channel(model));
    document.getElementById("waiting")?.remove();
  });
  return host;
}
export { render };
