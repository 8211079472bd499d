/* The graph view's opener: which groups to open on their own, within budgets of boxes. */

const SMALL_GROUP = 14; // ops or boxes up to which a group is opened without a reason
const CHANGES_BUDGET = 900; // boxes opened on our own account to show changes
const ENOUGH_LEVELS = 8; // boxes that are a picture, where a pass made the graph anew
const CALM_BUDGET = 140; // boxes opened on our own account where nothing changed

class Opener {
  /**
   * @param {Outline} outline
   * @param {Set<string>} expanded
   */
  constructor(outline, expanded) {
    this.outline = outline;
    this.expanded = expanded;
    this.boxes = 0;
    const count = (/** @type {Group} */ group) => {
      this.boxes += group.children.length;
      for (const child of group.children) if (child.children && expanded.has(child.id)) count(child);
    };
    count(outline.root);
  }

  /** @param {Group} group */
  _open(group) {
    if (this.expanded.has(group.id)) return;
    this.expanded.add(group.id);
    this.boxes += group.children.length;
  }

  /**
   * Opens the way to each of these nodes, in order, as long as that stays within the budget.
   * @param {Iterable<number>} keys
   * @param {number} budget
   */
  openFor(keys, budget) {
    for (const key of keys) {
      const chain = this.outline.ancestors(key).filter((group) => !this.expanded.has(group.id));
      if (chain.some((group) => group.isRest)) continue; // the first of them has the same change
      const cost = chain.reduce((sum, group) => sum + group.children.length, 0);
      if (this.boxes + cost > budget) continue;
      chain.forEach((group) => this._open(group));
    }
  }

  /**
   * Opens whole levels, outer ones first, until there is something to see.
   * @param {number} enough
   */
  openLevels(enough) {
    /** @type {(group: Group) => Group[]} */
    const shut = (group) =>
      group.children.flatMap((child) =>
        !child.children || child.isRest || child.repeat ? [] : this.expanded.has(child.id) ? shut(child) : [child],
      );
    while (this.boxes < enough) {
      const level = shut(this.outline.root);
      if (!level.length) return;
      level.forEach((group) => this._open(group));
    }
  }

  /**
   * Opens small groups, outer ones first.
   * @param {number} budget
   */
  openSmall(budget) {
    let level = [this.outline.root];
    while (level.length) {
      const next = [];
      for (const group of level) {
        for (const child of group.children) {
          if (!child.children || child.isRest || child.repeat) continue;
          const small = child.block || child.ops <= SMALL_GROUP || child.children.length <= SMALL_GROUP;
          if (!this.expanded.has(child.id) && small && this.boxes + child.children.length <= budget) this._open(child);
          if (this.expanded.has(child.id)) next.push(child);
        }
      }
      level = next;
    }
  }
}

/**
 * Opens what an outline shows at first: what this pass changed, what its other passes change, small groups.
 *
 * Counting all passes that share the layout means that going from pass to pass moves nothing at all. Where a pass
 * made most of the graph anew, the modules alone are shown: they are what both sides have.
 * @param {Outline} outline
 * @param {Set<string>} expanded
 * @param {(number | null)[]} sides the graphs before and after
 */
export function openAtFirst(outline, expanded, sides) {
  const [before, after] = /** @type {[number | null, number]} */ (sides);
  const { model, snapshots } = outline;
  const opener = new Opener(outline, expanded);
  if (model.replaced(before, after)) return opener.openLevels(ENOUGH_LEVELS);
  opener.openFor(model.diff(before, after).keys(), CHANGES_BUDGET);
  for (let at = 1; at < snapshots.length; at++) {
    opener.openFor(model.diff(snapshots[at - 1], snapshots[at]).keys(), CHANGES_BUDGET);
  }
  opener.openSmall(CALM_BUDGET);
}

/**
 * Opens whatever hides a change.
 * @param {Outline} outline
 * @param {Set<string>} expanded
 * @param {(number | null)[]} sides the graphs before and after
 */
export function openChanges(outline, expanded, sides) {
  const [before, after] = /** @type {[number | null, number]} */ (sides);
  new Opener(outline, expanded).openFor(outline.model.diff(before, after).keys(), Infinity);
}
