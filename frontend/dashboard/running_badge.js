/* The badge of the header that says what is being recorded, and the messages about recordings that ended. */

import { count } from "../graph/data/words.js";
import { fill, h } from "../viewer/dom.js";
import { isLive, nameText, stateWords } from "./words.js";

export class RunningBadge {
  /** @param {Dashboard} app */
  constructor(app) {
    this.app = app;
    this.element = h("span");
    this.text = /** @type {string | undefined} */ (undefined);
    this.states = new Map(app.channel.jobs.map((job) => [job.id, job.state]));
    this.update();
  }

  /** Shows what is running and waiting now. */
  update() {
    const live = this.app.channel.jobs.filter(isLive);
    const running = live.filter((/** @type {JobMessage} */ job) => job.state === "running");
    const waiting = live.length - running.length;
    const one =
      running.length === 1
        ? `${nameText(running[0].name || running[0].model)} ${running[0].total ? `${Math.floor((100 * running[0].done) / running[0].total)}%` : ""}`.trim()
        : null;
    const text = [
      one ?? (running.length ? count(running.length, "recording") : null),
      waiting ? `${waiting} waiting` : null,
    ]
      .filter(Boolean)
      .join(" · ");
    if (text === this.text) return;
    this.text = text;
    /** @type {Route} */
    const route = live.length === 1 ? { page: "job", id: live[0].id } : { page: "home" };
    fill(
      this.element,
      live.length
        ? this.app.link([h("span.fv-dot.fd-beat"), text], route, {
            class: "fv-badge fd-badge fd-tone-running",
            title: "Recording goes on",
          })
        : null,
    );
  }

  /** Announces recordings that ended while another page was open. */
  announce() {
    for (const job of this.app.channel.jobs) {
      const ended = isLive({ state: this.states.get(job.id) }) && !isLive(job);
      this.states.set(job.id, job.state);
      const here = (this.app.page?.id ?? this.app.page?.early) === job.id;
      if (!ended || here) continue;
      /** @type {Route} */
      const open =
        job.state === "finished" && job.trace ? { page: "trace", path: job.trace } : { page: "job", id: job.id };
      this.app.say(`${nameText(job.name || job.model)}: ${stateWords(job)}`, {
        action: ["Open", () => this.app.go(open)],
      });
    }
  }
}
