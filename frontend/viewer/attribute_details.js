/* The side panel of an attribute: its fate, why, what proves it, and where its value is. */

import { h } from "./dom.js";
import { stepLabel } from "./pair.js";
import { detailsTitle, pairs, section } from "./section.js";
import { fateBadge } from "./sheet.js";
import { explains } from "./terms.js";
import { compared, constantOf, tensorOf } from "./values.js";
import { placeText } from "./source_places.js";

export class AttributeDetails {
  /** @param {Details} details whose links and source lines it is made of */
  constructor(details) {
    this.details = details;
    this.app = details.app;
  }

  /** @param {any} path */
  of(path) {
    const row = this.app.model.attribute(path);
    if (!row) return [detailsTitle("Attribute", path), h("p.fv-muted", null, "The trace has no such attribute.")];
    return [
      detailsTitle(path, fateBadge(row.fate, { tabindex: "0", ...explains(this.app, row.fate) })),
      h("p", null, row.why),
      row.advice ? h("p.fv-advice", null, h("strong", null, "What you can do "), row.advice) : null,
      section(
        "What it was",
        pairs(
          [
            ["kind", row.kind],
            ["type", row.type],
            ["shape", row.shape],
            ["dtype", row.dtype],
            ["size", row.bytes],
          ].filter((pair) => pair[1]),
        ),
      ),
      row.same_as ? section("The same tensor as", this.details.attributeLink(row.same_as)) : null,
      this.values(row),
      this.locations(row),
      this.inThisPass(row),
      row.step === null ? null : section("Decided in", this.details.stepLink(row.step)),
      row.evidence.map((/** @type {Evidence} */ evidence, index) => this.evidence(evidence, index)),
      row.evidence.length ? null : section("Evidence", h("p.fv-muted", null, "None recorded.")),
    ];
  }

  /**
   * Its numbers before freezing, and those of the constants that hold it now, where they are others.
   * @param {any} row
   */
  values(row) {
    const { model } = this.app;
    const tensor = tensorOf(model, row);
    const now = row.locations
      .filter((/** @type {any} */ { step }) => step !== null)
      .map((/** @type {any} */ { value, step }) => [`now: %${value}`, constantOf(model, step, value)])
      .filter((/** @type {any} */ [, constant]) => constant?.values && constant.digest !== row.digest);
    const block = compared([[now.length ? "before freezing" : "", tensor], ...now]);
    return block && section("Values", block);
  }

  /** @param {AttributeRow} row */
  locations(row) {
    const items = this.app.model
      .homes(row)
      .map((location) =>
        h("li", null, this.details.locationLink(location), h("span.fv-muted", null, ` in ${location.method}`)),
      );
    return items.length
      ? section(row.fate === "preserved" ? "Where it is read now" : "Its value is now in", h("ul.fv-list", null, items))
      : null;
  }

  /** @param {AttributeRow} options */
  inThisPass({ path }) {
    const { focused, model, pair } = this.app;
    if (!pair || !focused.size) return null;
    const at = !pair.before || model.nodesOf(pair.after.index, path).length ? pair.after.index : pair.before.index;
    return section(
      `In the graph of step ${stepLabel(model.step(at))}`,
      h(
        "ul.fv-list",
        null,
        [...focused].map((id) => h("li", null, this.details.nodeLink(id, at))),
      ),
    );
  }

  /**
   * @param {Evidence} evidence
   * @param {any} index
   */
  evidence(evidence, index) {
    const jump = evidence.node === null || evidence.step === null ? null : this.writeLink(evidence);
    const chain = evidence.chain.map((link) =>
      h(
        "li",
        null,
        this.chainLink(evidence, link),
        link.source ? h("span.fv-muted", null, ` ${placeText(link.source)}`) : null,
      ),
    );
    return section(
      index ? "More evidence" : "Evidence",
      h("p.fv-wrap", null, evidence.fact),
      jump,
      evidence.source ? this.details.sourceLines(evidence.source) : null,
      chain.length
        ? [h("h4.fv-subtitle", null, "From the write back to the attribute"), h("ol.fv-list.fv-chain", null, chain)]
        : null,
    );
  }

  /** @param {Evidence} evidence */
  writeLink(evidence) {
    const what = evidence.op || "node";
    const where = evidence.source ? ` at ${placeText(evidence.source)}` : "";
    return this.app.link(`Go to ${what}${where}`, {
      step: evidence.step,
      node: evidence.node,
      attribute: null,
      tab: "graph",
    });
  }

  /**
   * @param {Evidence} evidence
   * @param {ChainLink} link
   */
  chainLink(evidence, link) {
    const text = `%${link.value} = ${link.op}`;
    return evidence.step === null
      ? h("code", null, text)
      : this.app.link(text, { step: evidence.step, node: link.node, attribute: null, tab: "graph" });
  }
}
