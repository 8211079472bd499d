/* The graph view's repeats: siblings of one structure, such as the layers of a transformer, become one group.
 *
 * It holds the first of them and a group with the others, which is only opened where someone looks for something in it. Two
 * modules have one structure if their nodes do the same with the same kinds of values, are wired alike, and come, change and
 * go in the same passes, names apart: then whatever is seen in the first happens in all.
 */

import { INDEXED, NONE, Signer } from "./structure_signature.js";

const LEAST = 3;
/**
 * Puts repeats into groups of their own, inner ones first.
 * @param {ModuleTree} tree
 */
export function foldRepeats(tree) {
  const signer = new Signer(tree);
  const visit = (/** @type {Group} */ group) => {
    for (const child of group.children) if (child.children) visit(child);
    fold(tree, signer, group);
  };
  visit(tree.root);
}

/**
 * @param {ModuleTree} tree
 * @param {Signer} signer
 * @param {Group} group
 */
function fold(tree, signer, group) {
  const runs = runsOf(tree, group.children);
  if (!runs.some((run) => run.length >= LEAST)) return;
  const pieces = runs.flatMap((run) => (run.length < LEAST ? [run] : alike(signer, run)));
  const isWhole = pieces.length === 1 && group.parent !== null && group.node === NONE && !group.block;
  group.children = pieces.flatMap((piece) => {
    if (piece.length < LEAST) return piece;
    const holder = isWhole ? group : makeHolder(tree, group, piece);
    fill(tree, holder, piece);
    if (!isWhole) return [holder];
    holder.label = `${holder.label} \u00d7 ${piece.length}`;
    return holder.children;
  });
}

/**
 * Children in runs of groups whose names differ by a number that grows; each other child is a run of its own.
 *
 * A node between two of them that reads none of them, such as the call that was inlined, does not part them.
 * @param {ModuleTree} tree
 * @param {any[]} children
 */
function runsOf(tree, children) {
  /** @type {any[][]} */
  const runs = [];
  let last = null;
  for (const child of children) {
    const found = child.children && !child.block && child.node === NONE ? INDEXED.exec(child.segment ?? "") : null;
    if (last && !child.children && !readsAny(tree, child.leaf, runs[runs.length - 1])) {
      runs.splice(-1, 0, [child]);
      continue;
    }
    const now = found && { stem: found[1], index: Number(found[2]) };
    if (now && last && now.stem === last.stem && now.index > last.index) runs[runs.length - 1].push(child);
    else runs.push([child]);
    last = now;
  }
  return runs;
}

/**
 * @param {ModuleTree} tree
 * @param {number} key
 * @param {Group[]} run
 */
function readsAny({ parentOf, union }, key, run) {
  return union.inputsOf[key].some((from) => {
    for (let group = parentOf[from]; group; group = /** @type {Group} */ (group.parent)) {
      if (run.includes(group)) return true;
    }
    return false;
  });
}

/**
 * A run in pieces of one structure each.
 * @param {Signer} signer
 * @param {Group[]} run
 */
function alike(signer, run) {
  /** @type {Group[][]} */
  const pieces = [[run[0]]];
  for (let at = 1; at < run.length; at++) {
    if (signer.areAlike(run[at - 1], run[at])) pieces[pieces.length - 1].push(run[at]);
    else pieces.push([run[at]]);
  }
  return pieces;
}

/**
 * @param {ModuleTree} tree
 * @param {Group} parent
 * @param {Group[]} members
 */
function makeHolder(tree, parent, members) {
  const [first, last] = [members[0], /** @type {Group} */ (members.at(-1))];
  const end = INDEXED.exec(last.segment ?? "")?.[2];
  const label = `${first.label}\u2013${end} \u00d7 ${members.length}`;
  return tree.addGroup({ id: `${first.id}\u00d7`, label, parent, node: NONE });
}

/**
 * @param {ModuleTree} tree
 * @param {Group} holder
 * @param {Group[]} members
 */
function fill(tree, holder, members) {
  const [first, ...others] = members;
  const label = `${others[0].label}\u2013${INDEXED.exec(others.at(-1)?.segment ?? "")?.[2]}: ${others.length} like it`;
  const rest = tree.addGroup({ id: `${first.id}\u00d7+`, label, parent: holder, node: NONE });
  rest.children = others;
  rest.isRest = true;
  holder.repeat = members;
  holder.children = [first, rest];
  first.parent = holder;
  for (const other of others) other.parent = rest;
}
