/* The graph view's tooltip: what a box is, in a few lines. */

import * as words from "./data/words.js";
import { SIGNS } from "./drawing/theme.js";
import { element } from "./element.js";

const MOST_INPUTS = 12;
const MOST_ATTRIBUTES = 6;
const MOST_LETTERS = 200;

export class Tooltip {
  /** @param {GraphView} view */
  constructor(view) {
    this.view = view;
    this.box = element("div", "fg-tip", view.root);
    this.box.hidden = true;
  }

  hide() {
    this.box.hidden = true;
  }

  /**
   * Tells of an item as it is on one side.
   * @param {number} item
   * @param {number} side
   */
  show(item, side) {
    const [title, ...lines] = linesOf(this.view, item, side);
    const { colours } = this.view;
    if (colours) lines.push(`${colours.colouring.label}: ${colours.text(item, side) || colours.colouring.absent}`);
    this.box.replaceChildren();
    element("b", "", this.box).textContent = title;
    for (const line of lines) element("div", "", this.box).textContent = line;
    this.box.hidden = false;
  }

  /**
   * Stands beside the pointer, inside the view.
   * @param {PointerEvent} event
   */
  place(event) {
    if (this.box.hidden) return;
    const { view } = this;
    const bounds = view.root.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    const { offsetWidth: width, offsetHeight: height } = this.box;
    this.box.style.left = `${Math.max(4, x + 16 + width > view.stage.width ? x - width - 12 : x + 16)}px`;
    this.box.style.top = `${Math.max(4, Math.min(view.stage.height - height - 6, y + 14))}px`;
  }
}

/**
 * @param {View} options
 * @param {number} item
 * @param {number} side
 */
function linesOf({ picture, placedMarks }, item, side) {
  return picture.scene.items[item].group
    ? groupLines(picture, item, side)
    : nodeLines(picture, item, side, placedMarks);
}

/**
 * @param {Picture} picture
 * @param {number} item
 * @param {number} side
 */
function groupLines(picture, item, side) {
  const { counts, scene } = picture;
  const { group } = scene.items[item];
  const changes = ["removed", "added", "changed"]
    .filter((status) => counts[status][item])
    .map((status) => `${SIGNS[status]}${counts[status][item]} ${status}`);
  const ops = words.count(picture.opsOf(item, side), "op");
  return [
    group.label,
    ...(group.repeat ? [`${group.repeat.length} modules of one structure; it opens to the first of them`] : []),
    `${group.id}  ·  ${ops}`,
    ...(changes.length ? [changes.join("   ")] : []),
    "double click to open",
  ];
}

/**
 * @param {Picture} picture
 * @param {number} item
 * @param {number} side
 * @param {any} marks
 */
function nodeLines(picture, item, side, marks) {
  const { model } = picture.scene;
  const { key } = picture.scene.items[item];
  const snapshot = model.snapshot(picture.snapshotOf(side));
  const node = model.node(snapshot.rowOf[key]);
  const status = model.isPseudo(key) ? undefined : picture.statusOf(item);
  const names = picture.namesOn(side);
  const lines = [node.op + (status ? `   ${SIGNS[status]} ${status}` : "")];
  for (const value of node.outputs) lines.push(cut(`%${value.name} : ${value.type}`));
  lines.push(...(model.pathsOf(snapshot.rowOf[key], names) ?? []));
  for (const name of node.inputs.slice(0, MOST_INPUTS)) {
    lines.push(cut(`\u2190 ${valueText(model, snapshot, names, name)}`));
  }
  if (node.inputs.length > MOST_INPUTS) lines.push(`\u2190 ${node.inputs.length - MOST_INPUTS} more`);
  for (const pair of node.attributes.slice(0, MOST_ATTRIBUTES)) lines.push(cut(`${pair.name} = ${pair.text}`));
  if (node.module) lines.push(`in ${node.module}`);
  if (node.source) lines.push(`${node.source.file}:${node.source.line}`);
  const mark = marks.ofKey.get(key);
  if (mark && mark.label) lines.push(mark.label);
  return lines;
}

/**
 * A value as a reader of code wants it: a constant by what it is, anything else by name and type.
 * @param {Model} model
 * @param {Snapshot} snapshot
 * @param {Map<number, string[]>} names
 * @param {string} name
 */
function valueText(model, snapshot, names, name) {
  const producer = snapshot.producer[model.stringIndex(name) ?? -1];
  if (producer === undefined || producer < 0) return `%${name}`;
  const node = model.node(snapshot.rowOf[producer]);
  if (node.op === "prim::Constant" && !node.constant) {
    const value = node.attributes.find((pair) => pair.name === "value");
    if (value) return value.text;
    if (!node.attributes.length) return "None";
  }
  const output = node.outputs.find((one) => one.name === name);
  const paths = model.pathsOf(snapshot.rowOf[producer], names);
  return `%${name}${output ? ` : ${words.shortType(output.type)}` : ""}${paths ? `   ${paths.join(", ")}` : ""}`;
}

/** @param {string} text */
function cut(text) {
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1)}…` : text;
}
