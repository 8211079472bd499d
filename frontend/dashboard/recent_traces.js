/* The list of recent traces: filtered, opened, forgotten, and two of them compared. */

import { backendName, count } from "../graph/data/words.js";
import { fill, h } from "../viewer/dom.js";
import { button, empty, iconButton, sign } from "./pieces.js";
import { chooseOther } from "./trace.js";
import { ago, base, lacking, lineText, nameText } from "./words.js";

const RECENT_SHOWN = 8;

export class RecentTraces {
  /**
   * @param {Dashboard} app
   * @param {HTMLElement} heading gets the focus when the last trace is taken off the list
   */
  constructor(app, heading) {
    this.app = app;
    this.heading = heading;
    this.all = false;
    this.list = h("ul.fd-list");
    this.more = h("div.fd-row");
    /** Paths of the ticked traces, in the order of the ticks. @type {string[]} */
    this.picked = [];
    this.pickBar = h("div.fd-pick-bar", { role: "status", hidden: true });
    this.filter = h("input.fv-input", {
      type: "search",
      placeholder: "Filter",
      "aria-label": "Filter recent traces",
      oninput: () => this.update(),
    });
    this.elements = [this.list, this.more, this.pickBar];
  }

  /** Shows the library's list, as far as the filter lets it through. */
  update() {
    const { recent } = this.app.channel.library;
    const text = this.filter.value.trim().toLowerCase();
    this.filter.hidden = recent.length <= RECENT_SHOWN;
    const found = recent.filter((/** @type {any} */ trace) =>
      `${trace.name} ${trace.path} ${trace.backend}`.toLowerCase().includes(text),
    );
    const shown = this.all || text ? found : found.slice(0, RECENT_SHOWN);
    const rest = found.length - shown.length;
    const words = recent.length
      ? h("li.fv-muted", null, "No recent trace has that in its name.")
      : h(
          "li",
          null,
          empty("No traces yet", "What you record or open is listed here. An example takes a few seconds."),
        );
    fill(this.list, shown.length ? shown.map((/** @type {any} */ trace) => this.trace(trace)) : words);
    fill(this.more, rest > 0 ? button(`Show ${rest} more`, () => this.showAll()) : null);
    const there = new Set(
      recent.filter((/** @type {any} */ trace) => !trace.missing).map((/** @type {any} */ trace) => trace.path),
    );
    this.picked = this.picked.filter((path) => there.has(path));
    this.showPicked();
  }

  /**
   * Ticks a trace or takes its tick away; a third tick takes the first one away.
   * @param {string} path
   * @param {boolean} ticked
   */
  pick(path, ticked) {
    this.picked = [...this.picked.filter((other) => other !== path), ...(ticked ? [path] : [])].slice(-2);
    this.showPicked();
  }

  showPicked() {
    /** @type {NodeListOf<HTMLInputElement>} */
    const ticks = this.list.querySelectorAll(".fd-pick");
    for (const tick of ticks) tick.checked = this.picked.includes(/** @type {string} */ (tick.dataset.pick));
    const [a, b] = this.picked;
    this.pickBar.hidden = !a;
    const { recent } = this.app.channel.library;
    const names = this.picked.map((path) => nameText(recent.find((trace) => trace.path === path)?.name ?? path));
    const compare = () => this.app.go({ page: "compare", path: a, other: b });
    const clear = () => {
      this.picked = [];
      this.showPicked();
      ticks[0]?.focus();
    };
    fill(
      this.pickBar,
      h(
        "span.fd-pick-names",
        null,
        b ? `${names[0]} and ${names[1]}` : `${names[0]}: tick another trace to compare it with.`,
      ),
      b && button("Compare these two", compare, { kind: "primary", icon: "compare" }),
      button("Clear", clear, { "aria-label": "Clear the ticks" }),
    );
  }

  showAll() {
    this.all = true;
    this.update();
    /** @type {NodeListOf<HTMLElement>} */ (this.list.querySelectorAll("[data-item]"))[RECENT_SHOWN]?.focus();
  }

  /** @param {RecentTrace} trace */
  trace(trace) {
    const { app } = this;
    /** @type {Route} */
    const route = { page: "trace", path: trace.path };
    const shown = nameText(trace.name);
    const name = trace.missing
      ? h("span.fd-name", null, shown)
      : app.link(shown, route, { class: "fd-name fd-cover", data: { item: "" } });
    const gone =
      trace.missing &&
      h("span.fv-badge.fv-warn", { title: "The file was moved or deleted" }, sign("warn"), "file is gone");
    const tone = trace.ending === "cancelled" ? "muted" : "bad";
    const failed = trace.failed && h(`span.fv-badge.fv-${tone}`, null, trace.ending ?? "freeze failed");
    const unmeasured =
      trace.unmeasured && h("span.fv-badge.fv-warn", { title: lineText(trace.unmeasured) }, lacking(trace));
    const facts = nameText(
      [
        count(trace.steps, "step"),
        backendName(trace.backend),
        trace.torch && `torch ${trace.torch}`,
        ago(trace.created),
      ]
        .filter(Boolean)
        .join(" · "),
    );
    const forget = iconButton("close", `Take ${shown} off this list; the file stays`, () => this.forget(trace));
    const compare = trace.missing
      ? null
      : iconButton("compare", `Compare ${shown} with …`, () => chooseOther(app, trace.path));
    const tick = h("input.fd-pick", {
      type: "checkbox",
      "aria-label": `Compare ${shown}, ${facts}: tick two`,
      disabled: Boolean(trace.missing),
      data: { pick: trace.path },
      onchange: (event) => this.pick(trace.path, event.target.checked),
    });
    return h(
      "li.fd-item",
      { class: trace.missing ? "fd-missing" : "", data: { path: trace.path } },
      tick,
      h(
        "div.fd-item-main",
        null,
        h("div.fd-row", null, name, failed, unmeasured, gone),
        trace.verdict && h("div.fv-small.fd-verdict", { title: lineText(trace.verdict) }, lineText(trace.verdict)),
        trace.unmeasured && h("div.fv-small.fv-warn.fd-unmeasured", null, `recorded, ${lineText(trace.unmeasured)}`),
        h("div.fv-muted.fv-small.fd-path", { title: trace.path }, h("bdi", null, lineText(trace.path))),
      ),
      h(
        "div.fd-item-facts.fv-muted.fv-small.fv-num",
        { title: trace.created ? new Date(trace.created).toLocaleString() : null },
        facts,
      ),
      h("div.fd-item-actions", null, compare, forget),
    );
  }

  /** @param {RecentTrace} trace */
  async forget(trace) {
    const rows = [...this.list.children];
    const at = rows.findIndex((/** @type {any} */ row) => row.dataset.path === trace.path);
    const done = await this.app.attempt(() => this.app.ask({ type: "forget", path: trace.path }));
    if (!done) return;
    this.app.say(`${nameText(trace.name)} is off the list; ${nameText(base(trace.path))} stays where it is`);
    const left = this.list.querySelectorAll("button");
    (left[Math.min(at, left.length - 1)] ?? this.heading).focus();
  }
}
