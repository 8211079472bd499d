/* The dashboard: which page is shown, what is around it, and the way to the server. */

import { fill, h, toClipboard } from "../viewer/dom.js";
import { emptyRequest, toCommand } from "./command.js";
import { Consents } from "./consents.js";
import { Drop } from "./drop.js";
import { chooseFile, isTrace } from "./files.js";
import { errorText } from "./upload.js";
import { FormPage } from "./form.js";
import { FolderPage } from "./folder.js";
import { HomePage } from "./home.js";
import { JobPage } from "./job.js";
import { Keyboard } from "./keyboard.js";
import { Messages } from "./messages.js";
import { button, dialog, iconButton, sign } from "./pieces.js";
import { Place } from "./place.js";
import { RunningBadge } from "./running_badge.js";
import { SweepPage } from "./sweep.js";
import { Theme } from "./theme.js";
import { ComparePage, TracePage } from "./trace.js";
import { formatRoute } from "./words.js";

export class Dashboard {
  /**
   * @param {HTMLElement} root filled with the dashboard, also inside a shadow root that has viewer.css and
   *   dashboard.css; give it a size
   * @param {Channel} channel the way to the server, see panel.js
   */
  constructor(root, channel) {
    // Other methods set these.
    this.lost = /** @type {ElementOf<"div">} */ (/** @type {any} */ (undefined));
    this.header = /** @type {ElementOf<"header">} */ (/** @type {any} */ (undefined));
    this.stage = /** @type {ElementOf<"div">} */ (/** @type {any} */ (undefined));
    this.layer = /** @type {ElementOf<"div">} */ (/** @type {any} */ (undefined));
    this.gone = false;
    this.chosenBackend = /** @type {string | undefined} */ (undefined);
    this.root = root;
    this.channel = channel;
    /** @type {Map<string, RecordingRequest>} */
    this.requests = new Map(); // what each recording that was started from here was asked, by its id
    this.summaries = new Map();
    this.consents = new Consents();
    this.lastFolder = /** @type {string | undefined} */ (undefined);
    /** @type {(() => unknown)[]} */
    this.stops = [];
    /** @type {Page | null} */
    this.page = null;
    this.theme = new Theme(root, () => this.page?.viewer?.setTheme(this.theme.choice));
    this.keyboard = new Keyboard(this);
    this.messages = new Messages();
    this.running = new RunningBadge(this);
    this.drop = new Drop(this);
    this.build();
    this.place = new Place(this.stage, (route) => this.show(route));
    this.listen();
    this.place.start(channel.site.start);
  }

  build() {
    this.lost = h("div.fd-lost", { role: "alert", hidden: true });
    this.header = h(
      "header.fd-header",
      null,
      this.link(
        [sign("mark"), h("span", null, "freezer-ui")],
        { page: "home" },
        { class: "fd-brand", "aria-label": "freezer-ui: all recordings and traces" },
      ),
      h("span.fv-muted.fv-small.fd-version", null, this.versions()),
      h("span.fv-spring"),
      this.running.element,
      iconButton("theme", "Switch between light and dark", () => this.theme.flip()),
      iconButton("keys", "Show the keys (?)", () => this.keyboard.show()),
    );
    this.stage = h("div.fd-stage");
    this.layer = h("div");
    this.root.classList.add("fv", "fd");
    fill(
      this.root,
      this.lost,
      this.header,
      this.stage,
      this.drop.element,
      this.messages.toasts,
      this.messages.live,
      this.layer,
    );
  }

  versions() {
    const { version, torch } = this.channel.site;
    return [version, torch ? `torch ${torch}` : "torch is not installed: traces open, nothing can be recorded"]
      .filter(Boolean)
      .join(" · ");
  }

  listen() {
    const watch = (
      /** @type {any} */ where,
      /** @type {string} */ event,
      /** @type {(...given: any[]) => unknown} */ run,
    ) => {
      where.addEventListener(event, run);
      this.stops.push(() => where.removeEventListener(event, run));
    };
    watch(document, "keydown", (/** @type {PointerEvent} */ event) => this.keyboard.hear(event));
    watch(window, "popstate", () => this.place.follow());
    this.drop.listen((event, run) => watch(this.root, event, run));
    for (const name of /** @type {const} */ (["site", "library", "jobs"])) {
      this.stops.push(this.channel.on(name, () => this.news(name)));
    }
    this.channel.closed.then(() => this.disconnected());
  }

  destroy() {
    for (const stop of this.stops) stop();
    this.page?.destroy?.();
    this.theme.destroy();
    this.gone = true;
    fill(this.root);
  }

  // --- where one is

  /**
   * Goes to another page.
   * @param {Route} route see parseRoute
   * @param {{ replace?: boolean, fragment?: string, state?: object }} [how] `replace` leaves nothing to come back to; `state` is kept with the address
   */
  go(route, how) {
    this.place.go(route, how);
  }

  /**
   * Corrects the address of the page that is shown.
   * @param {Route} route
   */
  rename(route, state = {}) {
    if (!this.page) return;
    this.place.rename(route, state);
    this.retitle();
  }

  /** @param {Route} route */
  show(route) {
    /** @type {Record<PageName, new (app: Dashboard, route: any) => Page>} */
    const pages = {
      home: HomePage,
      folder: FolderPage,
      sweep: SweepPage,
      record: FormPage,
      job: JobPage,
      trace: TracePage,
      compare: ComparePage,
    };
    const first = this.page === null;
    this.page?.destroy?.();
    this.page = null;
    this.layer.replaceChildren();
    const page = new pages[route.page](this, route);
    this.page = page;
    fill(this.stage, page.element);
    this.retitle();
    page.update("shown");
    if (this.page === page && !first) page.heading.focus({ preventScroll: true });
  }

  retitle() {
    if (!this.page) return;
    const { title, bare } = this.page;
    document.title = title ? `${title} · freezer-ui` : "freezer-ui";
    this.header.hidden = Boolean(bare);
  }

  /**
   * A link to another page that the browser can open in a new tab as well.
   * @param {Child} content
   * @param {Route} route
   */
  link(content, route, props = {}) {
    const follow = (/** @type {any} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      this.go(route, { fragment: route.fragment });
    };
    return h(
      "a.fv-link",
      { href: location.pathname + formatRoute(route) + (route.fragment ?? ""), onclick: follow, ...props },
      content,
    );
  }

  // --- what users do

  /** @param {RecordingRequest} request */
  async record(request) {
    const call = toCommand(request, this.backend(request.backend), this.channel.site);
    const { job } = await this.ask({ type: "record", call, ...this.consents.ofRequest(request), ...request });
    this.requests.set(job, request);
    this.go({ page: "job", id: job });
  }

  /** @param {string} job its id */
  cancel(job) {
    return this.attempt(() => this.ask({ type: "cancel", job }));
  }

  /**
   * Opens the form with everything filled in.
   * @param {RecordingRequest} request
   */
  form(request) {
    this.go({ page: "record", model: request.model }, { state: { request } });
  }

  async openFile() {
    const path = await chooseFile(this, {
      title: "Open a file",
      kinds: ["trace", "model"],
      note: "Files on the machine that runs freezer-ui: a trace opens, a model goes to the form that records it.",
    });
    if (path !== null) await this.attempt(() => this.openPath(path));
  }

  /** @param {string} path */
  async openPath(path) {
    if (path.endsWith("/")) return this.go({ page: "folder", path });
    if (!isTrace(path)) {
      const { job } = await this.ask({ type: "read", path });
      return job === null ? this.form(this.emptyRequest(path)) : this.go({ page: "job", id: job });
    }
    const { trace } = await this.ask({ type: "open", path });
    return this.go({ page: "trace", path: trace });
  }

  /** @param {string} url */
  download(url) {
    const anchor = h("a", { href: url, download: "" });
    this.root.append(anchor);
    anchor.click();
    anchor.remove();
  }

  /** @param {string} text */
  async copy(text) {
    if (await toClipboard(text)) this.say("Copied");
    else {
      dialog(
        this.layer,
        "Copy by hand",
        {},
        h(
          "textarea.fv-input.fd-by-hand",
          { readonly: true, rows: 6, "aria-label": "Text to copy", onfocus: (event) => event.target.select() },
          text,
        ),
      );
    }
  }

  // --- the server

  /**
   * @template {keyof Replies} Type
   * @param {Question<Type>} message
   * @returns {Promise<Replies[Type]>}
   */
  ask(message) {
    return this.channel.ask(message);
  }

  /** The request that the form starts with for a model. */
  emptyRequest(model = "", backend = this.preferred) {
    return emptyRequest(this.channel.site, backend, model);
  }

  /** The backend that the next recording starts with: the one chosen last. */
  get preferred() {
    return this.backend(this.chosenBackend);
  }

  /** @param {string} id */
  prefer(id) {
    this.chosenBackend = id;
  }

  /** @param {string | undefined} id */
  backend(id) {
    const { backends } = this.channel.site;
    return backends.find((one) => one.id === id) ?? backends[0];
  }

  /**
   * The summary of a model; requested once, since inspecting takes a separate process.
   * @param {string} model
   * @param {string[]} imports the modules to import before it is opened
   */
  inspect(model, imports) {
    const key = [model, ...imports].join("\n");
    if (!this.summaries.has(key)) {
      const asked = this.ask({ type: "inspect", model, imports, ...this.consents.of(model) });
      this.summaries.set(key, asked);
      asked.catch(() => this.summaries.delete(key));
    }
    return this.summaries.get(key);
  }

  /**
   * Does something that may be refused, and tells why; resolves to whether it went well.
   * @param {() => unknown} run
   */
  async attempt(run) {
    try {
      await run();
      return true;
    } catch (/** @type {any} */ error) {
      this.say(error.message, { bad: true });
      return false;
    }
  }

  /** @param {[path: string, params: Record<string, string>]} address */
  async fetchJson([path, params]) {
    const response = await fetch(this.channel.url(path, params)).catch((error) => {
      throw new Error(`The server does not answer (${error.message}). Is freezer-ui still running?`);
    });
    if (!response.ok) throw new Error(errorText(await response.text(), response.status));
    return response.json();
  }

  /** @param {News} name */
  news(name) {
    if (name === "jobs") this.running.announce();
    if (this.gone) return;
    this.running.update();
    this.page?.update(name);
    this.retitle();
  }

  disconnected() {
    if (this.gone) return;
    this.lost.hidden = false;
    fill(
      this.lost,
      sign("warn"),
      h(
        "span",
        null,
        h("strong", null, "The connection to freezer-ui is lost. "),
        "If it was stopped, start it again in the terminal and use the link it prints; else reload. What was recorded is kept.",
      ),
      button("Reload", () => location.reload()),
    );
  }

  // --- words

  /**
   * @param {string} text
   * @param {any} [how]
   */
  say(text, how) {
    this.messages.say(text, how);
  }

  /**
   * @param {string} text
   * @param {{ soon: boolean; }} [how]
   */
  announce(text, how) {
    this.messages.announce(text, how);
  }
}

/**
 * Shows the dashboard.
 * @param {HTMLElement} root see Dashboard
 * @param {Channel} channel `site`, `library`, `jobs` as they are now; `on(name, callback)` tells when one of them
 *   changes and returns what takes the callback off; `ask(message)` resolves to the reply or rejects with the error;
 *   `url(path, params)` is an address to fetch; `connected` resolves when `page`, the id for uploads, is there;
 *   `closed` resolves once the connection is lost
 */
export const mount = (root, channel) => new Dashboard(root, channel);
