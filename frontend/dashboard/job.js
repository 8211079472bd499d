/* One recording: how far it is, the steps so far, and how it ended. */

import { backendName, count } from "../graph/data/words.js";
import { fill, h } from "../viewer/dom.js";
import { pairs } from "../viewer/section.js";
import { toCommand } from "./command.js";
import { JobSteps } from "./job_steps.js";
import { askedWords, ENDS, isCode, timeWords, waitingWords } from "./job_words.js";
import { badge, button, progress } from "./pieces.js";
import {
  isLive,
  leftWords,
  lineText,
  nameText,
  phaseWords,
  placeWords,
  startWords,
  stateName,
  stateWords,
} from "./words.js";

/** Says how to record a model again that is named by its code; the request shows the command. */
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
    /** State and files of the last update. @type {string | undefined} */
    this.phase = undefined;
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
    this.steps = new JobSteps(app);
    this.log = h("pre.fv-log", { tabindex: "0" });
    this.logPart = h(
      "section.fd-part",
      { "aria-label": "Log" },
      h("div.fd-part-title", null, h("h2", null, "Last lines of the log")),
      this.log,
    );
    this.asked = h("section.fd-part", { "aria-label": "What is recorded" });
    this.name = h("div.fd-row", null, this.state);
    const head = h("header.fd-job-head", null, this.name, this.facts);
    this.content = h(
      "div.fd-job",
      null,
      head,
      this.work,
      this.end,
      this.actions,
      h("div.fd-job-columns", null, this.steps.element, h("div.fd-column", null, this.logPart, this.asked)),
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
    this.facts.textContent = lineText([job.model, backendName(job.backend), timeWords(job)].join(" · "));
    this.work.hidden = !live;
    this.message.textContent = lineText(waits ? waitingWords(job, this.app.channel.site) : phaseWords(job));
    this.time.textContent = waits ? startWords(job) : leftWords(job);
    this.bar.element.hidden = waits;
    this.bar.update(job.done, job.total);
    this.steps.update(job);
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
      : "The server was restarted, or the recording was removed from its list. Finished traces are under Recent traces.";
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
      this.copyable(line),
    );
  }

  /** @param {string} line a command */
  copyable(line) {
    const copy = button("Copy", () => this.app.copy(line));
    return h("div.fd-command", null, h("pre", { tabindex: "0" }, line), copy);
  }

  /**
   * The request that the recording was started with.
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
      ? `${count(job.steps.length, "step")} until then ${became}.`
      : job.trace && "No pass had run; the request and the environment are kept.";
    fill(
      this.end,
      h("h2", null, title),
      note && !(job.state === "failed" && !message) ? h("p.fv-muted", null, note) : null,
      message,
      bad && kept && h("p", null, kept),
    );
    fill(this.log, job.log.join("\n"));
    // A cancelled recording prints Python's name for a cancel, and nothing to act on.
    this.logPart.hidden = job.log.every((line) => job.state === "cancelled" && line.trim() === "KeyboardInterrupt");
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
    fill(this.asked, words, h("div.fd-part-title", null, h("h2", null, "As a command")), this.copyable(line));
  }
}
