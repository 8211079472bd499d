/* The graph view's pointer, keyboard and tooltip. */
(function (root) {
  "use strict";

  const { draw, words } = root.FreezerGraph;

  class Controls {
    /** Listens on the canvas and root element of a view, and steers it. */
    constructor(view) {
      this.view = view;
      this.pointers = new Map();
      this.tip = draw.element("div", "fg-tip", view.root);
      this.tip.hidden = true;
      const on = (name, act, options) => view.canvas.addEventListener(name, act, options);
      on("wheel", (event) => this._onWheel(event), { passive: false });
      on("pointerdown", (event) => this._onDown(event));
      on("pointermove", (event) => this._onMove(event));
      on("pointerup", (event) => this._onUp(event));
      on("pointercancel", (event) => this._onUp(event));
      on("pointerleave", () => this._hover(-1));
      on("dblclick", (event) => this._onDouble(event));
      view.root.addEventListener("keydown", (event) => this._onKey(event));
    }

    /** Lets go of what was under the pointer: the picture is another one. */
    forget() {
      this.view.hovered = -1;
      this.tip.hidden = true;
      this.valueIndex = null;
    }

    // ---- pointer

    /** Where an event is: side of the pane, offset from its middle, and the point of the world. */
    _locate(event) {
      const bounds = this.view.canvas.getBoundingClientRect();
      const panes = this.view._panes();
      const width = this.view._paneWidth();
      const x = event.clientX - bounds.left;
      const y = event.clientY - bounds.top;
      const pane = Math.min(panes.length - 1, Math.max(0, Math.floor(x / width)));
      const offset = { x: x - (pane + 0.5) * width, y: y - this.view.height / 2 };
      const { zoom } = this.view.camera;
      return { side: panes[pane], offset, x: this.view.camera.x + offset.x / zoom, y: this.view.camera.y + offset.y / zoom, left: x, top: y };
    }

    _itemAt(place) {
      if (!this.view.picture) return -1;
      const header = this._headerAt(place);
      return header > 0 ? header : this.view.picture.itemAt(place.x, place.y, place.side);
    }

    /** Names of open groups float over what they hold, so they come first. */
    _headerAt(place) {
      for (const header of (this.view.headers && this.view.headers[place.side]) || []) {
        if (place.x >= header.x && place.x <= header.x + header.width && place.y >= header.y && place.y <= header.y + header.height) return header.item;
      }
      return -1;
    }

    _onWheel(event) {
      if (this.view.options.wheel === "ctrl" && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
      const speed = event.ctrlKey ? 0.01 : 0.0016;
      this.view.zoomBy(Math.exp(-Math.max(-300, Math.min(300, event.deltaY * unit)) * speed), this._locate(event).offset);
    }

    _onDown(event) {
      if (event.button > 0) return;
      this.view.root.focus({ preventScroll: true });
      this.view.canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, event);
      this.moved = 0;
      this.view.camera.stop();
      const overview = this.view.overview.at(event);
      this.inOverview = overview !== null;
      if (overview) this._jump(overview);
    }

    _jump(point) {
      this.view.camera.jump(point);
    }

    _onMove(event) {
      const last = this.pointers.get(event.pointerId);
      if (!last) {
        this._hover(this.view.overview.at(event) ? -1 : this._itemAt(this._locate(event)), event);
        return;
      }
      const others = [...this.pointers.values()].filter((one) => one.pointerId !== event.pointerId);
      this.pointers.set(event.pointerId, event);
      const point = this.inOverview && this.view.overview.at(event, true);
      if (point) return this._jump(point);
      if (others.length) {
        const distance = (one) => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY);
        this.view.zoomBy(distance(event) / Math.max(1, distance(last)), this._locate(event).offset);
        return;
      }
      const [dx, dy] = [event.clientX - last.clientX, event.clientY - last.clientY];
      this.moved += Math.abs(dx) + Math.abs(dy);
      if (this.moved < 4) return;
      this.view.root.classList.add("fg-drag");
      this._hover(-1);
      const { camera } = this.view;
      camera.pan(-dx / camera.zoom, -dy / camera.zoom);
    }

    _onUp(event) {
      const known = this.pointers.delete(event.pointerId);
      this.view.root.classList.remove("fg-drag");
      if (!known || event.type === "pointercancel" || this.moved >= 4 || this.inOverview || !this.view.picture) return;
      const place = this._locate(event);
      const item = this._itemAt(place);
      if (item > 0 && this._onToggle(place, item)) return void this.view.toggle(this.view.picture.scene.items[item].group.id);
      this.view._selectItem(item);
    }

    _onToggle(place, item) {
      const { scene, layout } = this.view.picture;
      const { group, open } = scene.items[item];
      if (!group || this.view.camera.zoom < 0.5) return false;
      const header = open && this.view.headers[place.side].find((one) => one.item === item);
      const [x, y] = open ? [header ? header.x + 10 : NaN, header ? header.y + 14 : NaN] : [layout.x[item] + 15, layout.y[item] + 16];
      return Math.abs(place.x - x) <= 6 + draw.HIT_SLOP && Math.abs(place.y - y) <= 6 + draw.HIT_SLOP;
    }

    _onDouble(event) {
      if (!this.view.picture) return;
      const place = this._locate(event);
      const item = this._itemAt(place);
      const group = item > 0 && this.view.picture.scene.items[item].group;
      if (group && !this._onToggle(place, item)) this.view.toggle(group.id); // each click on the +/- box has done so already
    }

    _hover(item, event) {
      if (item !== this.view.hovered) {
        this.view.hovered = item;
        const shown = item > 0 ? this.view.picture.scene.items[item] : null;
        const id = shown && (shown.key >= 0 ? this.view.model.ids[shown.key] : shown.group.id);
        this.view._emit("hover", shown ? { id, kind: shown.group ? "group" : "node" } : null);
        this.view.canvas.style.cursor = shown && !shown.open ? "pointer" : "";
        if (shown && !shown.open) this._fillTip(item, this._locate(event).side);
        this.tip.hidden = !shown || shown.open;
        this.view._redraw();
      }
      if (!this.tip.hidden && event) this._placeTip(event);
    }

    _fillTip(item, side) {
      const { group, key } = this.view.picture.scene.items[item];
      const lines = group ? this._groupLines(item, group, side) : this._nodeLines(item, key, side);
      this.tip.replaceChildren();
      draw.element("b", "", this.tip).textContent = lines[0];
      for (const line of lines.slice(1)) draw.element("div", "", this.tip).textContent = line;
    }

    _groupLines(item, group, side) {
      const { counts } = this.view.picture;
      const changes = ["removed", "added", "changed"].filter((status) => counts[status][item])
        .map((status) => `${draw.SIGNS[status]}${counts[status][item]} ${status}`);
      return [group.label, `${group.id}  ·  ${words.count(this.view.picture.opsOf(item, side), "op")}`, ...(changes.length ? [changes.join("   ")] : []), "double click to open"];
    }

    _nodeLines(item, key, side) {
      const snapshot = this.view.model.snapshot(this.view.picture.snapshotOf(side));
      const node = this.view.model.node(snapshot.rowOf[key]);
      const status = this.view.picture.statusOf(item);
      const pseudo = this.view.model.isPseudo(key);
      const cut = (text) => (text.length > 200 ? `${text.slice(0, 199)}…` : text);
      const lines = [pseudo ? node.op : node.op + (status ? `   ${draw.SIGNS[status]} ${status}` : "")];
      for (const value of node.outputs) lines.push(cut(`%${value.name} : ${value.type}`));
      for (const name of node.inputs.slice(0, 12)) lines.push(cut(`← ${this._valueText(snapshot, name)}`));
      if (node.inputs.length > 12) lines.push(`← ${node.inputs.length - 12} more`);
      for (const pair of node.attributes.slice(0, 6)) lines.push(cut(`${pair.name} = ${pair.text}`));
      if (node.module) lines.push(`in ${node.module}`);
      if (node.source) lines.push(`${node.source.file}:${node.source.line}`);
      const mark = this.view.keyMarks.get(key);
      if (mark && mark.label) lines.push(mark.label);
      return lines;
    }

    /** A value as a reader of code wants it: a constant by what it is, anything else by name and type. */
    _valueText(snapshot, name) {
      this.valueIndex ??= new Map(this.view.model.strings.map((text, index) => [text, index]));
      const producer = snapshot.producer[this.valueIndex.get(name)];
      if (producer === undefined || producer < 0) return `%${name}`;
      const node = this.view.model.node(snapshot.rowOf[producer]);
      const value = node.op === "prim::Constant" && !node.constant && node.attributes.find((pair) => pair.name === "value");
      if (value) return value.text;
      if (node.op === "prim::Constant" && !node.constant && !node.attributes.length) return "None";
      const output = node.outputs.find((one) => one.name === name);
      return `%${name}${output ? ` : ${words.shortType(output.type)}` : ""}`;
    }

    _placeTip(event) {
      const bounds = this.view.root.getBoundingClientRect();
      const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
      const { offsetWidth: width, offsetHeight: height } = this.tip;
      this.tip.style.left = `${Math.max(4, x + 16 + width > this.view.width ? x - width - 12 : x + 16)}px`;
      this.tip.style.top = `${Math.max(4, Math.min(this.view.height - height - 6, y + 14))}px`;
    }

    // ---- keyboard

    _onKey(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target !== this.view.root || !this.view.picture) return;
      const act = {
        ArrowDown: () => this._step(1), ArrowUp: () => this._step(-1), ArrowLeft: () => this._sideways(-1), ArrowRight: () => this._sideways(1),
        Enter: () => this._toggleSelected(), "+": () => this.view.zoomBy(1.4), "=": () => this.view.zoomBy(1.4), "-": () => this.view.zoomBy(1 / 1.4),
        0: () => this.view.fit(), n: () => this.view.nextChange(1), p: () => this.view.nextChange(-1), Escape: () => this.view._selectItem(-1),
      }[event.key];
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    }

    /** The box nearest to the middle, where nothing is selected yet. */
    _start() {
      const { scene } = this.view.picture;
      const shown = scene.items.map((_, item) => item).filter((item) => item && !scene.items[item].open && this.view.picture.sides[item]);
      this.view._selectItem(this._nearest(shown, this.view.camera.x, this.view.camera.y), true);
    }

    _nearest(items, x, y) {
      let [found, least] = [-1, Infinity];
      for (const item of items) {
        const box = this.view._box(item);
        const distance = Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y);
        if (distance < least) [found, least] = [item, distance];
      }
      return found;
    }

    _step(direction) {
      if (this.view.selected <= 0) return this._start();
      const { scene, sides } = this.view.picture;
      const at = direction > 0 ? 0 : 1;
      const next = scene.edges.filter((edge) => edge[at] === this.view.selected && sides[edge[1 - at]]).map((edge) => edge[1 - at]);
      const inside = scene.items[this.view.selected].open
        ? scene.items.map((_, item) => item).filter((item) => scene.items[item].parent === this.view.selected && sides[item]) : [];
      const box = this.view._box(this.view.selected);
      const item = this._nearest(next.length ? next : inside, box.x + box.width / 2, box.y + (direction > 0 ? box.height : 0));
      if (item > 0) this.view._selectItem(item, true);
    }

    _sideways(direction) {
      if (this.view.selected <= 0) return this._start();
      const { scene, sides } = this.view.picture;
      const here = this.view._box(this.view.selected);
      const { parent } = scene.items[this.view.selected];
      const beside = scene.items.map((_, item) => item).filter((item) => {
        if (item === this.view.selected || !sides[item] || scene.items[item].parent !== parent) return false;
        const box = this.view._box(item);
        const overlaps = box.y < here.y + here.height && here.y < box.y + box.height;
        return overlaps && Math.sign(box.x - here.x) === direction;
      });
      const item = this._nearest(beside, here.x + here.width / 2, here.y + here.height / 2);
      if (item > 0) this.view._selectItem(item, true);
    }

    async _toggleSelected() {
      if (this.view.selected <= 0) return;
      const { group, parent } = this.view.picture.scene.items[this.view.selected];
      if (group) return this.view.toggle(group.id);
      const around = this.view.picture.scene.items[parent].group;
      if (!around || !around.id) return;
      this.view.selection = { id: around.node >= 0 ? this.view.model.ids[around.node] : around.id };
      await this.view.collapse(around.id);
      this.view._announce();
    }
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph, { Controls });
})(globalThis);
