/* The graph view's outline: the union of some snapshots as modules and blocks, whatever is open or closed.
 *
 * A pure function of the snapshots: the same ones give the same tree, whatever was shown before.
 */

import { findConstants } from "./constants.js";
import { ModuleTree } from "./module_tree.js";
import { Union } from "./union.js";

export class Outline {
  /**
   * @param {Model} model
   * @param {number[]} snapshots whose union this is
   * @param {boolean} constants whether constants are boxes of their own
   */
  constructor(model, snapshots, constants) {
    this.model = model;
    this.constants = constants;
    this.snapshots = [...new Set(snapshots)].sort((a, b) => a - b);
    this.names = [
      ...new Set(
        model.steps
          .filter((/** @type {{ after: number }} */ { after }) => this.snapshots.includes(after))
          .map((/** @type {{ index: number }} */ { index }) => model.namesOf(index)),
      ),
    ];
    this.union = new Union(model, this.snapshots);
    const { isConstant, home } = findConstants(this.union);
    this.isConstant = isConstant;
    this.home = home; // key of a constant -> key of the box that shows it as a chip
    this.hidden = constants ? [] : isConstant; // key -> whether it is no box
    const tree = new ModuleTree(this.union, { isConstant, home, hidden: this.hidden });
    this.root = tree.root;
    this.groups = tree.groups;
    this.parentOf = tree.parentOf;
  }

  /**
   * Ids of the groups that have to be open for a node or group to be a box of its own.
   * @param {string} id
   */
  wayTo(id) {
    const key = this.model.keyOfId.get(id);
    const own = key === undefined ? [] : this.ancestors(key); // none, where a node of another pass is called so
    const chain = own.length ? own : chainTo(this.groups.get(id));
    return chain.filter((one) => one.id !== id && !(one.node >= 0 && one.node === key)).map((one) => one.id);
  }

  /**
   * Path of the module in whose frame a box is; empty at the top.
   * @param {number} key
   */
  frameOf(key) {
    return (this.parentOf[key]?.id ?? "").replace(/#\d+/g, "");
  }

  /**
   * The chain of groups from just below the root to the one `key` is in (or is).
   * @param {number} key
   */
  ancestors(key) {
    return chainTo(this.parentOf[this.hidden[key] ? this.home[key] : key]);
  }
}

/** @param {Group | null | undefined} innermost */
function chainTo(innermost) {
  const chain = [];
  for (let group = innermost; group && group.parent; group = group.parent) chain.unshift(group);
  return chain;
}
