/* One recording: how far it is, the steps so far, and how it ended. */

import { fill, h } from "../viewer/dom.js";
import { pairs } from "../viewer/section.js";
import { measureSwitches, toCommand, toSize } from "./command.js";
import { badge, button, progress } from "./pieces.js";
import {
  isLive,
  lasting,
  leftWords,
  lineText,
  nameText,
  phaseWords,
  placeWords,
  plural,
  startWords,
  stateName,
  STATES,
  stateWords,
} from "./words.js";

const NEAR_END = 40; // px from the end at which the list follows new steps

/** @type {Record<string, any>} */
const ENDS = {
  finished: (/** @type {JobMessage} */ job) => [
    `Recorded ${plural(job.steps.length, "step")}`,
    job.unmeasured && `Recorded, ${lineText(job.unmeasured)}`,
  ],
  failed: (/** @type {JobMessage} */ job) =>
    job.conversion
      ? [`The model cannot be ${job.conversion}`, `${lineText(job.message)} No freeze began.`]
      : [job.died_in ? `The freeze failed in ${job.died_in}` : "The freeze failed", "torch's message"],
  crashed: (/** @type {JobMessage} */ job) => [
    job.died_in ? `The recording crashed in ${job.died_in}` : "The recording crashed",
    "This server and other recordings go on.",
  ],
  timed_out: (/** @type {JobMessage} */ job) => [
    job.died_in ? `Stopped at the time limit, in ${job.died_in}` : "Stopped at the time limit",
    "Give it more time, or measure less.",
  ],
  over_limit: (/** @type {JobMessage} */ job) => [
    job.died_in ? `Stopped at the memory limit, in ${job.died_in}` : "Stopped at the memory limit",
    "Give it more memory, smaller inputs, or measure less.",
  ],
  cancelled: (/** @type {JobMessage} */ job) => [
    job.message[0].toUpperCase() + job.message.slice(1),
    job.trace || job.preview ? "What was recorded until then is kept." : "No trace was kept of it.",
  ],
};

/**
 * What a request asks for: [what, words].
 * @param {{ inputs: any, device: any, measure: any, options: any, preserve: any, checks: any, ablation: any, limit_s: any, memory_bytes: any }} options
 * @param {Backend} backend
 * @param {any} site
 */
function askedWords(
  { inputs, device, measure, options, preserve, checks, ablation, limit_s: limit, memory_bytes: memory },
  backend,
  site,
) {
  const chosen = backend.options.flatMap((/** @type {any} */ option) => optionWords(option, options[option.id]));
  const measured = measureSwitches(site).flatMap(({ id, label }) => (measure?.[id] ? [label.toLowerCase()] : []));
  const kinds = measure ? measured.join(", ") : "nothing";
  return [
    ["inputs", inputs.length ? inputs.join(", ") : "the model's own, if it brings any"],
    ["device", device ?? "where the model is"],
    ["options", chosen.join("; ") || "none"],
    ...(backend.takes.includes("preserve") ? [["preserved", preserve.join(", ") || "nothing by name"]] : []),
    ["measured", measure?.latency ? `${kinds}; ${measure.seconds} s for latencies` : kinds],
    ...(checks.length
      ? [
          [
            "checked",
            site.options.recording.checks.choices
              .filter((/** @type {{ value: string }} */ { value }) => checks.includes(value))
              .map((/** @type {{ label: string }} */ { label }) => label)
              .join(", "),
          ],
        ]
      : []),
    ...(ablation ? [["afterwards", "frozen again without each pass"]] : []),
    ["time limit", limit ? lasting(limit) : "none"],
    ["memory limit", memory ? toSize(memory) : "none"],
  ];
}

/**
 * What was chosen of an option, where that says anything.
 * @param {{ label: any, kind: string, choices: any }} options
 * @param {any} value
 */
function optionWords({ label, kind, choices }, value) {
  if (kind === "switch") return value ? [label] : [];
  if (kind === "names") return value?.length ? [`${label}: ${value.join(", ")}`] : [];
  return value === null ? [] : [`${label}: ${choices.find((/** @type {any} */ one) => one.value === value).label}`];
}

/**
 * Why a recording waits, and where in the line it stands.
 * @param {JobMessage} job
 * @param {{ at_once: any }} options
 */
function waitingWords(job, { at_once: most }) {
  const few = most === 1 ? "one recording at a time, as several" : `${plural(most, "recording")} at a time, as more`;
  return `Waiting, ${placeWords(job)}. This server runs ${few} would disturb each other's figures.`;
}

/**
 * How long it waited and ran; what was no wait is not told.
 * @param {{ state: any, waited_s: any, elapsed_s: any }} options
 */
function timeWords({ state, waited_s: waited, elapsed_s: elapsed }) {
  if (state === "waiting") return `waits for ${lasting(waited)}`;
  const wait = waited >= 1 ? `waited ${lasting(waited)}, ` : "";
  return `${wait}${lasting(elapsed)}${state === "running" ? "" : " in all"}`;
}

/**
 * Whether a model is named by its code, ``package.module:factory``.
 * @param {string} model
 */
function isCode(model) {
  return /^[^\W\d]\w*(\.\w+)*:\w+(\.\w+)*$/u.test(model) && !model.startsWith("example:");
}

/** Says how a model that is code is recorded again; the command stands with the request. */
function withCommand() {
  return h("span.fv-muted", null, "To record it again, use the command below: this page imports no code.");
}

export class JobPage {
  /**
   * @param {Dashboard} app
   * @param {{ id: any }} options
   */
  constructor(app, { id }) {
    // Other methods set these.
    this.seenLive = false;
    this.phase = /** @type {any} */ (undefined);
    this.linked = /** @type {any} */ (undefined);
    this.failed = /** @type {any} */ (undefined);
    this.waiting = /** @type {any} */ (undefined);
    this.stage = /** @type {any} */ (undefined);
    this.app = app;
    this.id = id;
    this.heading = h("h1.fv-clip", { tabindex: "-1" });
    this.state = h("span");
    this.facts = h("p.fv-muted.fv-clip");
    this.message = h("p.fd-message");
    this.time = h("span.fv-muted.fv-num");
    this.bar = progress("Recording");
    this.work = h("section.fd-work", { "aria-label": "Progress" }, this.message, this.bar.element, this.time);
    this.end = h("section.fd-end", { "aria-label": "Result" });
    this.actions = h("div.fd-row.fd-actions");
    this.steps = h("ol.fd-steps", { tabindex: "0", "aria-label": "Recorded steps" });
    this.count = h("span.fv-muted.fv-num");
    this.nothing = h("div.fd-steps-none");
    this.log = h("pre.fv-log", { tabindex: "0" });
    this.logPart = h(
      "section.fd-part",
      { "aria-label": "Log" },
      h("div.fd-part-title", null, h("h2", null, "Last lines of the log")),
      this.log,
    );
    this.asked = h("section.fd-part", { "aria-label": "What is recorded" });
    this.drawn = 0;
    const list = (this.stepsPart = h(
      "section.fd-part",
      { "aria-label": "Steps" },
      h("div.fd-part-title", null, h("h2", null, "Steps"), this.count),
      this.nothing,
      this.steps,
    ));
    this.name = h("div.fd-row", null, this.state);
    const head = h("header.fd-job-head", null, this.name, this.facts);
    this.content = h(
      "div.fd-job",
      null,
      head,
      this.work,
      this.end,
      this.actions,
      h("div.fd-job-columns", null, list, h("div.fd-column", null, this.logPart, this.asked)),
    );
    this.page = h("div.fd-wide-content", null, this.content);
    this.element = h("main.fd-page", null, this.page);
    this.update();
  }

  get job() {
    return this.app.channel.jobs.find((/** @type {JobMessage} */ job) => job.id === this.id) ?? null;
  }

  get title() {
    const { job } = this;
    if (!job) return "Recording";
    const name = nameText(job.name || job.model);
    if (job.state !== "running") return `${name}: ${stateName(job)}`;
    return job.total ? `${Math.floor((100 * job.done) / job.total)}% ${name}` : `Recording ${name}`;
  }

  update() {
    const { job } = this;
    if (!job) return this.absent();
    if (!this.name.contains(this.heading)) this.name.prepend(this.heading);
    if (this.page.firstElementChild !== this.content) fill(this.page, this.content);
    const live = isLive(job);
    const waits = job.state === "waiting";
    this.heading.textContent = nameText(job.name || job.model);
    this.facts.textContent = lineText([job.model, job.backend, timeWords(job)].join(" · "));
    this.work.hidden = !live;
    this.message.textContent = lineText(waits ? waitingWords(job, this.app.channel.site) : phaseWords(job));
    this.time.textContent = waits ? startWords(job) : leftWords(job);
    this.bar.element.hidden = waits;
    this.bar.update(job.done, job.total);
    this.showSteps(job);
    const phase = `${job.state} ${job.preview} ${job.trace}`;
    if (phase !== this.phase) this.changed(job);
    this.phase = phase;
    this.seenLive ||= live;
    if (live) {
      this.app.announce(
        waits ? `waiting, ${placeWords(job)}` : job.cancelling ? job.message : job.phase || job.message,
      );
    }
  }

  absent() {
    const starting = this.app.requests.has(this.id);
    this.heading.textContent = starting ? "Starting the recording …" : "This recording is not known here";
    const words = starting
      ? null
      : "The server was started anew, or the recording was taken off its list. Traces that were finished stand under Recent traces.";
    fill(
      this.page,
      h(
        "div.fd-alone",
        null,
        this.heading,
        words && h("p.fv-muted", null, words),
        starting ? null : h("p", null, this.app.link("All recordings and traces", { page: "home" })),
      ),
    );
  }

  /**
   * The state of things changed, not only the progress.
   * @param {JobMessage} job
   */
  changed(job) {
    const live = isLive(job);
    fill(this.state, badge(job));
    fill(this.actions, live ? this.meanwhile(job) : this.afterwards(job));
    this.end.hidden = live;
    if (!live) this.showEnd(job);
    this.showRequest(job);
    if (live) return;
    this.app.announce(`${nameText(job.name)}: ${stateWords(job)}`, { soon: true });
    if (job.state === "finished" && job.trace && this.seenLive) {
      this.app.go({ page: "trace", path: job.trace }, { replace: true });
    }
  }

  /** @param {JobMessage} job */
  meanwhile(job) {
    const look =
      job.preview &&
      this.app.link(
        "Look at the graphs meanwhile",
        { page: "trace", path: job.preview },
        { class: "fv-button fd-button", data: { look: "" } },
      );
    return [button("Cancel", () => this.app.cancel(this.id), { icon: "close" }), look];
  }

  /** @param {JobMessage} job */
  afterwards(job) {
    const path = job.trace ?? job.preview;
    const text = job.state === "finished" ? "Open the recording" : "Open what was recorded";
    const open =
      path &&
      this.app.link(
        text,
        { page: "trace", path },
        { class: `fv-button fd-button ${job.state === "finished" ? "fd-primary" : ""}` },
      );
    const isScripted = job.conversion === "scripted";
    const other = job.conversion && {
      words: isScripted ? "Trace it instead…" : "Script it instead…",
      via: isScripted ? "trace" : "script",
    };
    const home = this.app.link("All recordings and traces", { page: "home" });
    // The page imports no code: only the command line records such a model, and so it records it again.
    if (isCode(job.model)) return [open, other ? this.command(job, other.via) : withCommand(), home];
    const instead =
      other &&
      button(other.words, () => this.app.form({ ...this.request(job), via: other.via }), {
        icon: "record",
        kind: "primary",
      });
    const again = button(
      job.state === "finished" ? "Record again…" : "Try again with changes…",
      () => this.app.form(this.request(job)),
      { icon: "record", kind: job.state === "finished" || instead ? "" : "primary" },
    );
    return [open, instead, again, home];
  }

  /**
   * The command that converts the model in the other way, to be typed.
   * @param {JobMessage} job
   * @param {string} via the other way
   */
  command(job, via) {
    const request = { ...this.request(job), via };
    const verb = via === "trace" ? "Trace" : "Script";
    const line = toCommand(request, this.app.backend(job.backend), this.app.channel.site);
    return h(
      "div.fd-instead",
      null,
      h("p", null, `${verb} it instead, from the command line, which may import its code:`),
      h(
        "div.fd-command",
        null,
        h("pre", { tabindex: "0" }, line),
        button("Copy", () => this.app.copy(line)),
      ),
    );
  }

  /**
   * What it was asked.
   * @param {JobMessage} job
   */
  request(job) {
    const backend = this.app.backend(job.backend);
    return job.request ?? this.app.requests.get(job.id) ?? this.app.emptyRequest(job.model, backend);
  }

  /** @param {JobMessage} job */
  showEnd(job) {
    const [title, note] = ENDS[job.state](job);
    const bad = ["failed", "crashed", "timed_out", "over_limit"].includes(job.state);
    this.end.classList.toggle("fd-bad-end", bad);
    if (bad) this.end.setAttribute("role", "alert");
    const message = job.error && h("pre", { tabindex: "0" }, job.error);
    const one = job.steps.length === 1;
    const became =
      job.trace || job.preview
        ? `${one ? "is" : "are"} kept`
        : `${one ? "was" : "were"} seen, but no trace was written`;
    const kept = job.steps.length
      ? `${plural(job.steps.length, "step")} until then ${became}.`
      : job.trace && "No pass had run; what was asked for, and where, is kept.";
    fill(
      this.end,
      h("h2", null, title),
      note && !(job.state === "failed" && !message) ? h("p.fv-muted", null, note) : null,
      message,
      bad && kept && h("p", null, kept),
    );
    fill(this.log, job.log.join("\n"));
    this.logPart.hidden = !job.log.length;
    requestAnimationFrame(() => (this.log.scrollTop = this.log.scrollHeight)); // the last line tells most
  }

  /** @param {JobMessage} job */
  showRequest(job) {
    const line = toCommand(this.request(job), this.app.backend(job.backend), this.app.channel.site);
    this.logPart.hidden ||= isLive(job);
    const known = job.request ?? this.app.requests.get(job.id);
    const words = known
      ? [
          h("div.fd-part-title", null, h("h2", null, "What is recorded")),
          pairs(askedWords(known, this.app.backend(job.backend), this.app.channel.site)),
        ]
      : null;
    fill(
      this.asked,
      words,
      h("div.fd-part-title", null, h("h2", null, "As a command")),
      h(
        "div.fd-command",
        null,
        h("pre", { tabindex: "0" }, line),
        button("Copy", () => this.app.copy(line)),
      ),
    );
  }

  // --- the steps

  /** @param {JobMessage} job */
  showSteps(job) {
    const { steps } = job;
    const path = job.trace ?? job.preview;
    if (path !== this.linked) this.clear();
    this.linked = path;
    this.nothing.hidden = steps.length > 0 || job.state !== "running";
    if (!this.nothing.hidden) this.showStage(job);
    this.steps.hidden = !steps.length;
    this.stepsPart.hidden = job.state !== "running" && !steps.length;
    const changed = steps.filter((/** @type {any} */ step) => step.changed).length;
    this.count.textContent = changed ? `${steps.length}; ${changed} changed the graph` : steps.length || "";
    const follow = this.steps.scrollHeight - this.steps.scrollTop - this.steps.clientHeight < NEAR_END;
    for (; this.drawn < steps.length; this.drawn += 1) this.steps.append(...this.rows(steps, this.drawn));
    if (!isLive(job) && job.died_in && !this.failed) this.steps.append((this.failed = this.died(job)));
    if (follow && this.drawn) this.toEnd();
  }

  /** Scrolls to the last step, and so that the heading of a stage, which stays at the top, cuts no row in two. */
  toEnd() {
    const { steps } = this;
    const least =
      steps.scrollHeight - steps.clientHeight - /** @type {HTMLElement} */ (steps.lastElementChild).offsetHeight;
    const covered = /** @type {HTMLElement} */ (steps.querySelector(".fv-passes-stage")).offsetHeight;
    const first = [.../** @type {NodeListOf<HTMLElement>} */ (steps.querySelectorAll(".fd-step"))].find(
      (row) => row.offsetTop - covered >= least,
    );
    steps.scrollTop = first && least > 0 ? first.offsetTop - covered : steps.scrollHeight;
  }

  /**
   * Where it is as long as no step is known.
   * @param {JobMessage} job
   */
  showStage(job) {
    const { stages, name } = this.app.backend(job.backend);
    if (this.waiting === job.stage) return;
    this.waiting = job.stage;
    const words = stages.length
      ? `${name} goes through these stages; its steps appear here as they run.`
      : "Steps appear here as torch runs them.";
    const row = (/** @type {{ id: any, help: string }} */ { id, help }) =>
      h(
        "li",
        { class: id === job.stage ? "fd-stage-now" : "", "aria-current": id === job.stage ? "step" : null },
        h("strong", null, id),
        h("span.fv-muted", null, help),
      );
    fill(
      this.nothing,
      h("p.fv-muted", null, words),
      stages.length ? h("ol.fd-stages", { "aria-label": "Stages" }, stages.map(row)) : null,
    );
  }

  /** Once there is a file, the rows are made anew, as links into it. */
  clear() {
    this.steps.replaceChildren();
    this.drawn = 0;
    this.stage = null;
    this.failed = null;
  }

  /**
   * A step's row, under its stage's where that is new.
   * @param {any} steps
   * @param {number} at
   */
  rows(steps, at) {
    const step = steps[at];
    const stage = `${step.method}, ${step.stage}`;
    const title =
      stage === this.stage
        ? []
        : [h("li.fv-passes-stage", null, h("span", null, step.stage), h("span", null, step.method))];
    this.stage = stage;
    const previous = steps.slice(0, at).findLast((/** @type {any} */ one) => one.method === step.method);
    const delta = previous && step.changed ? step.nodes - previous.nodes : 0;
    const change = delta
      ? h("span", { class: delta < 0 ? "fv-removed" : "fv-added" }, `${delta < 0 ? "−" : "+"}${Math.abs(delta)}`)
      : step.changed && previous
        ? h("span.fv-modified", null, "changed")
        : null;
    const name = this.linked
      ? this.app.link(
          step.name,
          { page: "trace", path: this.linked, fragment: `#step=${step.index}` },
          { class: "fd-cover", title: "Look at the graphs of this step" },
        )
      : step.name;
    const row = h(
      "li.fv-pass.fd-step",
      { class: step.changed || !previous ? "" : "fv-pass-quiet" },
      h("span.fv-pass-index.fv-num", null, step.index),
      h("span.fv-pass-name", null, name),
      step.round === null ? null : h("span.fv-round", null, `r${step.round}`),
      h("span.fv-spring"),
      h("span.fv-counts.fv-num", null, change),
      h("span.fd-nodes.fv-num.fv-muted", null, plural(step.nodes, "node")),
    );
    return [...title, row];
  }

  /** @param {JobMessage} job */
  died(job) {
    return h(
      "li.fv-pass.fv-pass-failed",
      null,
      h("span.fv-pass-index", { "aria-hidden": "true" }, "✕"),
      h("span.fv-pass-name", null, job.died_in),
      h("span.fv-spring"),
      h("span.fv-badge.fv-bad", null, /** @type {Record<string, any>} */ (STATES)[job.state].word),
    );
  }
}
