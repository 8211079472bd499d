/* The side panel of a module: of one that repeats, its members, the way between them, and what differs among them. */

import { opName } from "../graph/data/words.js";
import { h } from "./dom.js";
import { detailsTitle, section } from "./section.js";

const SHOWN = 8; // lines of differences

/**
 * The facts about a repeated group or a member of one; null for any other group.
 * @param {Details} details
 * @param {Group} group
 * @param {Outline} outline
 */
export function repeatDetails(details, group, outline) {
  const holder = holderOf(group);
  if (!holder?.repeat) return null;
  const members = holder.repeat;
  const at = members.indexOf(group);
  const link = (/** @type {Group} */ one, text = one.label) =>
    details.link(text, { node: one.id, attribute: null, tab: "graph" });
  const names = members.map((one) => h("li", null, one === group ? h("strong", null, one.label) : link(one)));
  return [
    detailsTitle(group.label, at < 0 ? "repeated module" : `module, ${at + 1} of ${members.length} alike`),
    at < 0 ? null : stepper(members, at, link),
    section(
      `${members.length} modules of one structure`,
      h("p.fv-muted.fv-small", null, "The same operators, types and wiring; each pass changed them in the same way."),
      h("ul.fv-list.fv-columns", null, names),
    ),
    differences(details, members, apart(outline, holder), link),
  ];
}

/**
 * The group that holds the repeat which a group is, is a member of, or is the rest of.
 * @param {Group} group
 */
function holderOf(group) {
  if (group.repeat) return group;
  const around = group.isRest || group.parent?.repeat?.includes(group) ? group.parent : group.parent?.parent;
  return around?.repeat?.includes(group) || group.isRest ? around : null;
}

/**
 * @param {Group[]} members
 * @param {number} at
 * @param {(one: Group, text?: string) => Child} link
 */
function stepper(members, at, link) {
  const [before, after] = [members[at - 1], members[at + 1]];
  return h(
    "p.fv-stepper",
    null,
    before ? link(before, `‹ ${before.label}`) : null,
    after ? link(after, `${after.label} ›`) : null,
  );
}

/**
 * Modules of the same name beside a repeat that are no members of it.
 * @param {Outline} outline
 * @param {Group} holder
 */
function apart(outline, holder) {
  const [first, ...others] = /** @type {Group[]} */ (holder.repeat);
  const stem = first.id.replace(/\d+$/, "");
  return [...outline.groups.values()].filter(
    (one) =>
      one.id.startsWith(stem) && /^\d+$/.test(one.id.slice(stem.length)) && one !== first && !others.includes(one),
  );
}

/**
 * @param {Details} details
 * @param {Group[]} members
 * @param {Group[]} others
 * @param {(one: Group, text?: string) => Child} link
 */
function differences(details, members, others, link) {
  const { model, pair } = details.app;
  const shownSteps = pair?.steps().map(({ index }) => index) ?? [];
  const lines = attributeLines(model, members).map((text) => h("li.fv-wrap", null, text));
  for (const other of others) {
    lines.push(h("li.fv-wrap", null, link(other), ` differs: ${apartText(model, members[0], other, shownSteps)}`));
  }
  const shown = lines.slice(0, SHOWN);
  if (lines.length > SHOWN) shown.push(h("li.fv-muted", null, `and ${lines.length - SHOWN} more`));
  return section(
    "What differs among them",
    lines.length ? h("ul.fv-list", null, shown) : h("p.fv-muted", null, "Only the numbers in their weights."),
  );
}

/**
 * Attributes whose fate, shape or dtype is not the same in all members.
 * @param {TraceModel} model
 * @param {Group[]} members
 */
export function attributeLines(model, members) {
  /** @type {Map<string, Map<string, string[]>>} */
  const found = new Map(); // path below the member -> what it is -> members
  for (const member of members) {
    const path = `${member.id.replace(/#\d+/g, "")}.`;
    for (const row of model.attributes) {
      if (!row.path.startsWith(path) || row.kind === "submodule" || !row.counted) continue;
      const own = row.path.slice(path.length);
      const kinds = found.get(own) ?? new Map();
      found.set(own, kinds);
      const text = [row.fate, row.shape, row.dtype].filter(Boolean).join(" ");
      kinds.set(text, [...(kinds.get(text) ?? []), member.label]);
    }
  }
  return [...found].flatMap(([own, kinds]) => {
    const told = [...kinds].sort((a, b) => a[1].length - b[1].length);
    const missing = members.length - told.reduce((sum, [, labels]) => sum + labels.length, 0);
    if (told.length === 1 && !missing) return [];
    const parts = told.map(([text, labels], at) =>
      at === told.length - 1 && told.length > 1 ? `${text} in the others` : `${text} in ${labels.join(", ")}`,
    );
    return [`${own}: ${parts.join("; ")}${missing ? `; ${missing} without it` : ""}`];
  });
}

/**
 * The differences between a module and a member of a repeat, in the first graph that has any.
 * @param {TraceModel} model
 * @param {Group} member
 * @param {Group} other
 * @param {number[]} steps whose graphs to look at
 */
export function apartText(model, member, other, steps) {
  for (const step of steps) {
    const [usual, own] = [operators(model, member, step), operators(model, other, step)];
    const parts = [...new Set([...usual.keys(), ...own.keys()])].flatMap((op) => {
      const more = (own.get(op) ?? 0) - (usual.get(op) ?? 0);
      return more ? [`${more > 0 ? "+" : "\u2212"}${Math.abs(more)} ${op}`] : [];
    });
    if (parts.length) return parts.join(", ");
  }
  return "other types, wiring or passes";
}

/**
 * @param {TraceModel} model
 * @param {Group} group
 * @param {number} step
 * @returns {Map<string, number>}
 */
function operators({ graphs, steps }, group, step) {
  const { rowOf } = graphs.snapshot(graphs.steps[steps[step].index].after);
  /** @type {Map<string, number>} */
  const counts = new Map();
  const visit = (/** @type {Group} */ one) => {
    for (const child of one.children) {
      const key = child.children ? child.node : child.leaf;
      const row = key < 0 || graphs.isPseudo(key) ? -1 : rowOf[key];
      const name = row < 0 ? "" : opName(graphs.op(row));
      if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
      if (child.children) visit(child);
    }
  };
  visit(group);
  return counts;
}
