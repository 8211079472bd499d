/* The side panel: everything known about the chosen node, with links to its evidence; attributes have a file of their own. */

import { bytesText } from "./amounts.js";
import { AttributeDetails } from "./attribute_details.js";
import { valuesOfNode } from "./colouring.js";
import { nodeHistory, nodeKernels, nodeRewrites } from "./details_history.js";
import { DetailsLinks } from "./details_links.js";
import { fill, h, icon } from "./dom.js";
import { kernelDetails } from "./kernel_details.js";
import { stepLabel } from "./pair.js";
import { detailsTitle as title, pairs, section } from "./section.js";
import { fateBadge } from "./sheet.js";
import { changedFields, nodeText } from "./snapshots.js";
import { repeatDetails } from "./repeats.js";
import { lineFacts } from "./source_facts.js";
import { readConstants, valuesOf } from "./values.js";

export class Details extends DetailsLinks {
  /** @param {Viewer} app */
  constructor(app) {
    super(app);
    this.words = { added: "added", removed: "removed", changed: "changed" };
    this.body = h("div.fv-details-body");
    this.element = h(
      "aside.fv-details",
      { "aria-label": "Details" },
      h(
        "button.fv-icon.fv-details-close",
        {
          type: "button",
          "aria-label": "Close details",
          title: "Close (Esc)",
          onclick: () => app.navigate({ node: null, attribute: null, kernel: null, line: "" }),
        },
        icon("close"),
      ),
      this.body,
    );
  }

  /** @param {State} state */
  render(state) {
    const content = state.attribute
      ? this.attribute(state.attribute)
      : state.node
        ? this.node(state.node)
        : (this.kernel(state) ?? this.line(state));
    this.element.hidden = content === null;
    if (content) fill(this.body, content);
  }

  /** @param {State} options */
  kernel({ program, kernel }) {
    return kernel === null ? null : kernelDetails(this.app, this.app.model.view.programs[program], kernel);
  }

  /**
   * The outcome of the chosen line of source.
   * @param {{ line: string }} options
   */
  line({ line }) {
    const row = this.app.model.links.rows.get(line);
    return row ? lineFacts(this.app, line, row) : null;
  }

  // --- a node

  /** @param {any} id */
  node(id) {
    const { model } = this.app;
    const { pair } = this.app;
    if (!pair) return null;
    const step = pair.after;
    const before = pair.before && model.graph(pair.before.index).nodes.get(id);
    const after = model.graph(step.index).nodes.get(id);
    const node = after || before;
    if (!node) return this.end(pair, id) ?? this.absent(id, step);
    const at = after || !pair.before ? step.index : pair.before.index;
    return [
      title(node.op, this.fate(pair, before, after)),
      h("p.fv-mono.fv-wrap.fv-muted", null, `%${id}`),
      this.origin(at, /** @type {GraphNode} */ (node)),
      before && after && before !== after ? this.changes(before, after) : null,
      this.values(at, /** @type {GraphNode} */ (node)),
      this.worth(at, id),
      this.texts(node),
      this.constant(node),
      readConstants(model, pair, before, after),
      nodeKernels(this, step.method, id),
      this.source(step.method, node),
      nodeHistory(this, step.method, id),
      nodeRewrites(this, step.method, id),
    ];
  }

  /**
   * An input or a return, which are drawn as nodes and are none.
   * @param {Pair} pair
   * @param {any} id
   */
  end(pair, id) {
    const found = this.app.model.end(pair, id);
    if (!found) return null;
    const { node, at } = found;
    const [output] = /** @type {GraphNode} */ (node).outputs;
    const nested = id === `%${output?.name ?? "return"}` ? "" : " of a nested block";
    return [
      title(output ? `%${output.name}` : "return", `${output ? "input" : ""}${nested}`),
      this.origin(at, /** @type {GraphNode} */ (node)),
      this.values(at, /** @type {GraphNode} */ (node)),
    ];
  }

  /**
   * @param {Pair} pair
   * @param {undefined | null | GraphNode} before
   * @param {undefined | GraphNode} after
   */
  fate(pair, before, after) {
    const { words } = this;
    if (!pair.before || before === after) return null;
    if (!before) return h("span.fv-badge.fv-added", null, `+ ${words.added}`);
    if (!after) return h("span.fv-badge.fv-removed", null, `− ${words.removed}`);
    return changedFields(before, after).length ? h("span.fv-badge.fv-modified", null, `~ ${words.changed}`) : null;
  }

  /**
   * A chosen id that is not a node of this pass: a node of another pass, an input, or a module's box.
   * @param {string} id
   * @param {ViewStep} step
   */
  absent(id, step) {
    const { model } = this.app;
    const graph = /** @type {GraphPanel | undefined} */ (this.app.panels.get("graph"));
    const outline = graph?.view?.outline();
    const group = outline?.groups.get(id);
    const repeated = group && repeatDetails(this, group, outline);
    if (repeated) return repeated;
    const events = model.history(step.method, id);
    if (events.length) {
      return [
        title("Node", `%${id}`),
        h("p.fv-muted", null, "It is in neither graph shown."),
        nodeHistory(this, step.method, id),
      ];
    }
    const path = id.replace(/#\d+$/, "");
    const inside = model.attributes.filter((row) => row.path.startsWith(`${path}.`));
    if (!inside.length) return [title(id)];
    return [
      title(path, "module"),
      section(
        "Attributes",
        this.link(`See its ${inside.length} attributes`, {
          tab: "attributes",
          q: `${path}.`,
          fate: [],
          kind: "",
          reason: "",
        }),
      ),
    ];
  }

  /**
   * @param {number} at
   * @param {GraphNode} node
   */
  origin(at, node) {
    const rows = node.outputs.flatMap(({ name }) => this.app.model.attributesOf(at, name));
    const links = rows.map((row) => h("li", null, this.attributeLink(row.path), " ", fateBadge(row.fate)));
    const how = { "prim::GetAttr": "Reads attribute", input: "Is attribute" }[node.op] ?? "Holds attribute";
    return links.length ? section(how, h("ul.fv-list", null, links)) : null;
  }

  /**
   * @param {GraphNode} before
   * @param {GraphNode} after
   */
  changes(before, after) {
    const { pair } = this.app;
    const fields = changedFields(before, after).filter((field) => field !== "source");
    if (!fields.length) return null;
    return section(
      pair?.chosen && pair.before
        ? `Changed between ${stepLabel(pair.before)} and ${stepLabel(pair.after)}`
        : "Changed in this pass",
      h("p.fv-mono.fv-wrap.fv-small", null, h("span.fv-removed", null, "− ", nodeText({ ...before, source: null }))),
      h("p.fv-mono.fv-wrap.fv-small", null, h("span.fv-added", null, "+ ", nodeText({ ...after, source: null }))),
    );
  }

  /**
   * @param {number} at
   * @param {GraphNode} node
   */
  values(at, node) {
    const { model } = this.app;
    const graph = model.graph(at);
    const inputs = node.inputs.map((name) => h("li", null, this.valueLink(at, name)));
    const outputs = node.outputs.map(({ name, type }) =>
      h("li", null, h("code", null, `%${name}`), h("div.fv-type", null, type), this.users(at, graph, name)),
    );
    return [
      outputs.length ? section("Defines", h("ul.fv-list", null, outputs)) : null,
      inputs.length ? section("Reads", h("ul.fv-list", null, inputs)) : null,
    ];
  }

  /**
   * @param {number} at
   * @param {GraphText} graph
   * @param {string} name
   */
  users(at, graph, name) {
    const readers = graph.readers.get(name) || [];
    if (graph.yielded.has(name)) {
      return h(
        "div.fv-small",
        null,
        h("span.fv-muted", null, "returned", readers.length ? ", and read by " : ""),
        spaced(readers.map((id) => this.nodeLink(id, at))),
      );
    }
    if (!readers.length) return h("div.fv-muted.fv-small", null, "read by no node");
    return h(
      "div.fv-small",
      null,
      h("span.fv-muted", null, "read by "),
      spaced(readers.map((id) => this.nodeLink(id, at))),
    );
  }

  /** @param {GraphNode} node */
  texts(node) {
    const rows = node.attributes.map(({ name, text }) => [name, text]);
    if (node.module) rows.push(["module", node.module]);
    return rows.length ? section("Attributes", pairs(rows)) : null;
  }

  /**
   * The quantities that the graph can be coloured by, in words.
   * @param {number} at
   * @param {string} id
   */
  worth(at, id) {
    const rows = valuesOfNode(this.app.model, at, id);
    return rows.length ? section("Measured and known", pairs(rows)) : null;
  }

  /** @param {GraphNode} node */
  constant(node) {
    return node.constant ? section("Constant", pairs(constantRows(node.constant)), valuesOf(node.constant)) : null;
  }

  /**
   * @param {string} path
   * @returns {Child}
   */
  attribute(path) {
    return new AttributeDetails(this).of(path);
  }
}

/** @param {any} kept */
function constantRows(kept) {
  const numbers = ["minimum", "maximum", "mean", "std"].filter((name) => kept[name] !== null);
  const rows = [
    ["shape", kept.shape.join("×") || "scalar"],
    ["dtype", kept.dtype],
    ["device", kept.device],
    ["size", bytesText(kept.nbytes)],
    ...numbers.map((name) => [name, kept[name].toPrecision(4)]),
    ["not finite", kept.nonfinite || null],
    ["digest", kept.digest],
    ["storage", kept.storage],
  ];
  return rows.filter(([, text]) => text !== null);
}

/** @param {any} nodes */
function spaced(nodes) {
  return nodes.flatMap((/** @type {GraphNode} */ node, /** @type {any} */ index) => (index ? [" ", node] : [node]));
}
