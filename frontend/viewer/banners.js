/* Banners below the header: a freeze that failed, and measurements that are missing. */

import { h } from "./dom.js";

/** @param {Viewer} app */
export function failureBanner(app) {
  const { failure, steps } = app.model.view;
  if (!failure) return null;
  const where = [failure.stage, failure.method].filter(Boolean).join(", ");
  const last =
    failure.step === null || !steps[failure.step]
      ? null
      : app.link(failure.method ? "Show the graph just before" : "Show the last graph", {
          step: failure.step,
          tab: "graph",
        });
  return h(
    "section.fv-failure",
    { role: "alert" },
    h(
      "div.fv-failure-head",
      null,
      h("span.fv-failure-mark", { "aria-hidden": "true" }, "✕"),
      h("strong", null, failure.title),
      failure.method ? h("span", null, where) : null,
      h("span.fv-spring"),
      last,
    ),
    h("pre", { tabindex: "0" }, failure.message),
    failure.left ? h("p.fv-small", null, failure.left) : null,
    failure.log
      ? h(
          "details.fv-small",
          null,
          h("summary", null, "What was logged last"),
          h("pre.fv-log", { tabindex: "0" }, failure.log),
        )
      : null,
  );
}

/**
 * The requested measurements that failed, and why; the header only says "not measured".
 * @param {Viewer} app
 */
export function unmeasuredBanner(app) {
  const { unmeasured } = app.model.view;
  if (!unmeasured) return null;
  return h(
    "section.fv-unmeasured",
    { role: "status" },
    h("span.fv-warn", { "aria-hidden": "true" }, "! "),
    h("strong", null, `Recorded, ${unmeasured.what}: `),
    unmeasured.reason,
    ". ",
    unmeasured.remedy,
  );
}
