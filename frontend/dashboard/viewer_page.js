/* A page that shows the viewer: it fetches the data, waits, and shows errors. */

import { mount } from "../viewer/mount.js";
import { fill, h } from "../viewer/dom.js";
import { button, sign } from "./pieces.js";

/** The common part of both pages: fetch, wait, fail, mount. */
export class ViewerPage {
  /**
   * @param {Dashboard} app
   * @param {[path: string, params: Record<string, string>]} address path on the server and its parameters
   */
  constructor(app, address) {
    // Other methods set these.
    this.turn = 0;
    this.heading = /** @type {HTMLElement} */ (/** @type {any} */ (undefined));
    this.viewer = /** @type {Viewer | undefined} */ (undefined);
    this.gone = false;
    this.app = app;
    this.address = address;
    this.notice = h("div.fd-notice", { role: "status", hidden: true });
    this.stage = h("div.fd-viewer");
    this.element = h("div.fd-viewer-page", null, this.notice, this.stage);
    this.load();
  }

  /** Whether the page brings a header of its own. */
  get bare() {
    return Boolean(this.viewer);
  }

  async load() {
    const turn = (this.turn += 1);
    this.unmount();
    this.waiting();
    /** @type {{ data?: ViewerData, error?: Error }} */
    const result = await this.app.fetchJson(this.address).then(
      (data) => ({ data }),
      (error) => ({ error }),
    );
    if (turn !== this.turn || this.gone) return;
    if (result.error) return this.failed(result.error);
    try {
      this.show(/** @type {ViewerData} */ (result.data));
    } catch (/** @type {any} */ error) {
      this.failed(new Error(`The viewer failed on it: ${error.message}`));
      throw error;
    }
  }

  waiting() {
    this.heading = h("h1", { tabindex: "-1" }, `Opening ${this.title} …`);
    fill(
      this.stage,
      h(
        "main.fd-page",
        null,
        h(
          "div.fd-alone",
          null,
          this.heading,
          h("div.fd-progress.fd-unsure", { role: "progressbar", "aria-label": "Opening" }, h("div.fd-progress-bar")),
        ),
      ),
    );
    if (this.app.page === this) this.heading.focus();
  }

  /** @param {Error} error */
  failed(error) {
    this.heading = h("h1", { tabindex: "-1" }, `${this.title} cannot be shown`);
    const actions = [
      button("Try again", () => this.load(), { kind: "primary" }),
      this.more(),
      this.app.link("All recordings and traces", { page: "home" }),
    ];
    fill(
      this.stage,
      h(
        "main.fd-page",
        null,
        h(
          "div.fd-alone",
          { role: "alert" },
          this.heading,
          h("p.fv-wrap", null, error.message),
          h("div.fd-row", null, actions),
        ),
      ),
    );
    if (this.app.page === this) this.heading.focus();
  }

  /**
   * A further way out of an error.
   * @returns {Child}
   */
  more() {
    return null;
  }

  /** @param {ViewerData} data */
  show(data) {
    const element = h("div.fd-mount");
    const words = "All recordings and traces";
    const home = h(
      "nav.fd-home",
      { "aria-label": "Dashboard" },
      this.app.link(sign("mark"), { page: "home" }, { title: words, "aria-label": words }),
    );
    fill(this.stage, home, element);
    const [, params] = this.address;
    const options = {
      hash: true,
      theme: this.app.theme.choice,
      loadBokeh: () => this.app.channel.connected.then(() => globalThis.Bokeh),
      loadCharts: () => this.app.fetchJson([this.charts, params]).then(({ charts }) => charts),
      actions: this.actions(data),
      ...this.moreOptions(),
    };
    this.viewer = mount(element, { ...data, options });
    this.viewer.on("theme", (theme) => this.app.theme.choose(theme));
    const heading = element.querySelector("h1");
    if (heading) {
      this.heading = heading;
      heading.tabIndex = -1;
      if (this.app.page === this) heading.focus({ preventScroll: true });
    }
    this.named(data);
    this.app.retitle();
  }

  /** The path on the server of the charts. */
  get charts() {
    return this.address[0].replace("/data", "/charts");
  }

  /**
   * Further options of the viewer.
   * @returns {Partial<ViewerOptions>}
   */
  moreOptions() {
    return {};
  }

  unmount() {
    this.viewer?.destroy();
    this.viewer = undefined;
    this.app.retitle();
  }

  destroy() {
    this.gone = true;
    this.unmount();
  }

  /**
   * The name of the page; the kinds of pages have their own.
   * @returns {string}
   */
  get title() {
    return "";
  }

  /**
   * What the page adds to the viewer's header.
   * @param {ViewerData} _data
   * @returns {ViewerAction[]}
   */
  actions(_data) {
    return [];
  }

  /**
   * Called with the loaded data before it is shown; a subclass takes the page's name from it.
   * @param {ViewerData} _data
   */
  named(_data) {}

  /** @param {News} _what */
  update(_what) {}
}
