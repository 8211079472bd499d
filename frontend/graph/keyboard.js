/* The graph view's keyboard: along edges and sideways from box to box, and what else has a key. */

export class Keyboard {
  /**
   * Listens on the root element of a view, and steers it.
   * @param {GraphView} view
   */
  constructor(view) {
    this.view = view;
    this.acts = {
      ArrowDown: () => this._step(1),
      ArrowUp: () => this._step(-1),
      ArrowLeft: () => this._sideways(-1),
      ArrowRight: () => this._sideways(1),
      Enter: () => this._toggleSelected(),
      "+": () => view.zoomBy(1.4),
      "=": () => view.zoomBy(1.4),
      "-": () => view.zoomBy(1 / 1.4),
      0: () => view.fit(),
      n: () => view.nextChange(1),
      p: () => view.nextChange(-1),
      Escape: () => view.selection.choose(-1),
    };
    view.root.addEventListener("keydown", (event) => this._onKey(event));
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== this.view.root || !this.view.picture) return;
    const act = /** @type {Record<string, (() => unknown) | undefined>} */ (this.acts)[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /**
   * Selects the nearest of some items to a point, and brings it into the middle.
   * @param {number[]} items
   * @param {{ x: number, y: number }} options
   */
  _choose(items, { x, y }) {
    const { picture, selection } = this.view;
    let [nearest, least] = [-1, Infinity];
    for (const item of items) {
      const box = picture.box(item);
      const distance = Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y);
      if (distance < least) [nearest, least] = [item, distance];
    }
    if (nearest > 0) selection.choose(nearest, true);
  }

  /** The box nearest to the middle, where nothing is selected yet. */
  _start() {
    const { camera, picture } = this.view;
    this._choose(
      picture.closedItems().filter((item) => picture.sides[item]),
      camera,
    );
  }

  /**
   * Along an edge, or else into an open group.
   * @param {number} direction
   */
  _step(direction) {
    const {
      picture,
      selection: { item: here },
    } = this.view;
    if (here <= 0) return this._start();
    const { scene, sides } = picture;
    const at = direction > 0 ? 0 : 1;
    const next = scene.edges.filter((edge) => edge[at] === here && sides[edge[1 - at]]).map((edge) => edge[1 - at]);
    const inside = scene.items[here].open ? this._childrenOf(here) : [];
    const box = picture.box(here);
    this._choose(next.length ? next : inside, {
      x: box.x + box.width / 2,
      y: box.y + (direction > 0 ? box.height : 0),
    });
  }

  /** @param {number} direction */
  _sideways(direction) {
    const {
      picture,
      selection: { item: here },
    } = this.view;
    if (here <= 0) return this._start();
    const own = picture.box(here);
    const beside = this._childrenOf(picture.scene.items[here].parent).filter((item) => {
      const box = picture.box(item);
      const overlaps = box.y < own.y + own.height && own.y < box.y + box.height;
      return item !== here && overlaps && Math.sign(box.x - own.x) === direction;
    });
    this._choose(beside, { x: own.x + own.width / 2, y: own.y + own.height / 2 });
  }

  /** @param {number} parent */
  _childrenOf(parent) {
    const {
      scene: { items },
      sides,
    } = this.view.picture;
    return [...items.keys()].filter((item) => items[item].parent === parent && sides[item]);
  }

  /** Opens or closes the selected group, or closes the one around the selected node, which then is selected. */
  async _toggleSelected() {
    const {
      picture: { scene },
      selection,
    } = this.view;
    if (selection.item <= 0) return;
    const { group, parent } = scene.items[selection.item];
    if (group) return this.view.groups.toggle(group.id);
    const around = scene.items[parent].group;
    if (!around || !around.id) return;
    selection.id = scene.idOf(parent);
    await this.view.groups.collapse(around.id);
    selection.announce();
  }
}
