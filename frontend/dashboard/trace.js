/* The viewer as a page: one trace, or two side by side, with what can be done with them. */

import { count } from "../graph/data/words.js";
import { fill, h } from "../viewer/dom.js";
import { DEFAULTS } from "../viewer/state.js";
import { chooseFile } from "./files.js";
import { button, dialog, sign } from "./pieces.js";
import { Tour, wasToured } from "./tour.js";
import { ago, base, lineText, nameText, phaseWords, stateWords } from "./words.js";
import { ViewerPage } from "./viewer_page.js";

export class TracePage extends ViewerPage {
  /**
   * @param {Dashboard} app
   * @param {{ path: string }} route
   */
  constructor(app, { path }) {
    super(app, ["trace/data", { path }]);
    this.path = path;
    this.update("jobs");
  }

  get title() {
    return this.name ?? base(this.address[1].path);
  }

  /** @param {ViewerData} data */
  show(data) {
    super.show(data);
    if (!wasToured() && data.view.steps.length) new Tour(/** @type {Viewer} */ (this.viewer));
  }

  moreOptions() {
    return { tour: () => new Tour(/** @type {Viewer} */ (this.viewer)) };
  }

  /** @param {ViewerData} data */
  named(data) {
    this.name = data.view.name || base(this.path);
  }

  /** @param {ViewerData} data */
  actions(data) {
    const { app, path } = this;
    const file = (/** @type {string} */ what) => () => app.download(app.channel.url(what, { path }));
    return [
      { id: "report", label: "Export report", run: file("trace/report") },
      { id: "download", label: "Download trace", run: file("trace/file") },
      {
        id: "python",
        label: "Copy as Python",
        run: (/** @type {Viewer} */ viewer) => viewer.copy(asPython(path, viewer.state())),
      },
      { id: "compare", label: "Compare with…", run: () => chooseOther(app, path) },
      { id: "again", label: "Record again…", run: () => app.attempt(async () => app.form(await this.again(data))) },
    ];
  }

  /**
   * Resolves to what would record this once more, as far as the trace has it.
   * @param {ViewerData} data
   */
  async again({ view }) {
    const job = this.app.channel.jobs.find((one) => one.trace === this.path);
    const known = job && (job.request ?? this.app.requests.get(job.id));
    if (known) return known;
    const { request } = await this.app.ask({ type: "parse_command", text: view.environment.call ?? "" });
    return request ?? this.app.emptyRequest(job?.model, this.app.backend(view.backend));
  }

  more() {
    const listed = this.app.channel.library.recent.some((trace) => trace.path === this.path);
    return listed ? button("Take it off the recent traces", () => this.forget()) : null;
  }

  async forget() {
    if (await this.app.attempt(() => this.app.ask({ type: "forget", path: this.path }))) this.app.go({ page: "home" });
  }

  /**
   * While a recording is still measured, says so; once it is done, offers what is new.
   * @param {News} what
   */
  update(what) {
    if (what !== "jobs") return;
    const job = this.app.channel.jobs.find(
      (one) => this.path && (one.preview === this.path || one.trace === this.path),
    );
    const running = job?.state === "running";
    if (running) this.early = job.id;
    const show = job && (running || this.early === job.id);
    this.notice.hidden = !show;
    if (!show) return;
    const state = running
      ? h("span", null, sign("record"), " The graphs are here, measuring goes on: ", lineText(phaseWords(job)))
      : h("span", null, `The recording of ${nameText(job.name)}: ${stateWords(job)}.`);
    const phase = `${job.state}`;
    if (running && this.phase === phase) return void this.noticeText?.replaceChildren(...state.childNodes);
    /** @type {any} */
    this.phase = phase;
    this.noticeText = state;
    const actions = running
      ? [this.app.link("Progress", { page: "job", id: job.id }), button("Cancel", () => this.app.cancel(job.id))]
      : button("Show it complete", () => this.complete(job), { kind: "primary" });
    fill(this.notice, state, h("span.fv-spring"), actions);
  }

  /**
   * Loads the finished file, keeping the view: the state is in the address.
   * @param {JobMessage} job
   */
  complete(job) {
    this.early = null;
    this.notice.hidden = true;
    if (job.trace && job.trace !== this.path) {
      this.app.go({ page: "trace", path: job.trace }, { replace: true, fragment: location.hash });
    } else this.load();
  }
}

export class ComparePage extends ViewerPage {
  /**
   * @param {Dashboard} app
   * @param {{ path: string, other: string }} route
   */
  constructor(app, { path, other }) {
    super(app, ["compare/data", { a: path, b: other }]);
    this.path = path;
    this.other = other;
  }

  get title() {
    const { a, b } = this.address[1];
    return `${base(a)} and ${base(b)}`;
  }

  actions() {
    const { app, path, other } = this;
    return [
      { id: "swap", label: "Swap sides", run: () => app.go({ page: "compare", path: other, other: path }) },
      { id: "first", label: `Open ${base(path)}`, run: () => app.go({ page: "trace", path }) },
      { id: "second", label: `Open ${base(other)}`, run: () => app.go({ page: "trace", path: other }) },
      { id: "compare", label: "Compare with…", run: () => chooseOther(app, path) },
    ];
  }
}

const MOVED = /** @type {const} */ (["tab", "against", "attribute"]); // what is looked at; filters and the like stay behind

/**
 * Python that opens the trace at the same place.
 * @param {string} path
 * @param {State} state
 */
function asPython(path, state) {
  const text = (/** @type {Child} */ value) => JSON.stringify(value);
  const lines = [
    "import freeze_engine as fe",
    "import viewer",
    "",
    `trace = fe.load(${text(path)})`,
    "view = viewer.show(trace)",
  ];
  const more = MOVED.filter((key) => state[key] !== DEFAULTS[key]).map((key) => `${text(key)}: ${text(state[key])}`);
  if (more.length) lines[lines.length - 1] = `view = viewer.show(trace, state={${more.join(", ")}})`;
  if (state.step !== null) lines.push(`view.step = ${state.step}`);
  if (state.node) lines.push(`view.selected = ${text(state.node)}`);
  return [...lines, "view", ""].join("\n");
}

/**
 * Asks what to compare a trace with, and goes there.
 * @param {Dashboard} app
 * @param {string} path
 */
export function chooseOther(app, path) {
  const others = app.channel.library.recent.filter((trace) => !trace.missing && trace.path !== path);
  const go = (/** @type {string} */ other) => {
    sheet.close();
    app.go({ page: "compare", path, other });
  };
  const browse = async () => {
    sheet.close();
    const other = await chooseFile(app, { title: "Compare with", kinds: ["trace"] });
    if (other !== null) app.go({ page: "compare", path, other });
  };
  const rows = others.map((trace) =>
    h(
      "li",
      null,
      h(
        "button.fd-file",
        { type: "button", title: trace.path, onclick: () => go(trace.path) },
        sign("trace"),
        h("span.fd-file-name", null, nameText(trace.name)),
        h("span.fv-muted.fv-small.fv-num", null, nameText(`${count(trace.steps, "step")} · torch ${trace.torch}`)),
        h("span.fv-muted.fv-small.fd-file-when", null, ago(trace.created)),
      ),
    ),
  );
  const list = others.length
    ? h("ul.fd-files", null, rows)
    : h("p.fv-muted", null, "There is no other recent trace; choose a file.");
  const sheet = dialog(
    app.layer,
    `Compare ${base(path)} with`,
    {},
    list,
    h("div.fd-row", null, button("Choose a file…", browse, { icon: "folder" })),
  );
}
