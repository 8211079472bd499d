/* A recording in the list of recordings. */

import { count } from "../graph/data/words.js";
import { fill, h } from "../viewer/dom.js";
import { badge, button, iconButton, progress } from "./pieces.js";
import { isKnown, isLive, lasting, lineText, nameText, phaseWords, placeWords, startWords } from "./words.js";

/**
 * One recording among others: how far it is, and what can be done with it.
 * @param {Dashboard} app
 * @param {{ id: any }} options
 */
export function jobRow(app, { id }) {
  const link = app.link("", { page: "job", id }, { class: "fd-name fd-cover", data: { item: "" } });
  const state = h("span");
  const said = h("div.fv-muted.fv-small.fv-clip");
  const bar = progress("Recording");
  const time = h("div.fd-item-facts.fv-muted.fv-small.fv-num");
  const actions = h("div.fd-item-actions");
  const element = h(
    "li.fd-item",
    { data: { job: id } },
    h("div.fd-item-main", null, h("div.fd-row", null, link, state), said, bar.element),
    time,
    actions,
  );
  /** @type {any} */
  let shown = null;
  const update = (/** @type {JobMessage} */ job) => {
    const name = nameText(job.name || job.model);
    link.textContent = name;
    const running = job.state === "running";
    bar.element.hidden = !running;
    bar.element.setAttribute("aria-label", `Recording of ${name}`);
    bar.update(job.done, job.total);
    said.classList.toggle("fv-clip", job.state !== "waiting"); // its place and its wait are to be read whole
    said.textContent = lineText(
      job.state === "waiting"
        ? `${placeWords(job)} · ${startWords(job)}`
        : running
          ? phaseWords(job)
          : [
              count(job.steps.length, "step"),
              job.unmeasured,
              job.state === "cancelled"
                ? job.message
                : job.conversion
                  ? job.message
                  : job.state !== "finished" && job.died_in && `ended in ${job.died_in}`,
            ]
              .filter(Boolean)
              .join(" · "),
    );
    time.textContent =
      job.state === "waiting"
        ? `waits for ${lasting(job.waited_s)}`
        : running && isKnown(job.whole_s)
          ? `about ${lasting(job.whole_s)} left`
          : `${lasting(job.elapsed_s)}`;
    if (shown === job.state) return;
    shown = job.state;
    fill(state, badge(job));
    fill(
      actions,
      isLive(job)
        ? button("Cancel", () => app.cancel(id), { "aria-label": `Cancel ${name}` })
        : [
            job.trace && app.link("Open", { page: "trace", path: job.trace }, { "aria-label": `Open ${name}` }),
            iconButton("close", `Take ${name} off this list`, () =>
              app.attempt(() => app.ask({ type: "dismiss", job: id })),
            ),
          ],
    );
  };
  return { element, update };
}
