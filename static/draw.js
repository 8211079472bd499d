/* The graph view's drawing: sizes of boxes, colours, and one painter for canvas and SVG alike.
 *
 * The painter draws world coordinates through a 2D-context-like surface, so that an exported SVG is what was on screen.
 * It draws only what is in sight, in as few paths as there are styles, and less of it the further one is away:
 * boxes keep a pixel or two even where thousands are in view, and changed ones are never smaller than can be seen.
 */
(function (root) {
  "use strict";

  const SANS = 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
  const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
  const SIGNS = { removed: "\u2212", added: "+", changed: "~" };
  const HEADER = 28;
  const LINE_TITLE = 17;
  const CHIP_HEIGHT = 15;
  const CHIP_STEP = 18;
  const MOST_CHIPS = 5;
  const HUB = 12; // readers beyond which a value's lines are drawn faintly
  const HIT_SLOP = 6; // px around a +/- box that still count as it
  const PANE_HEAD = 40; // px at the top of a pane that its title takes
  const SIGN_ZOOM = 0.5; // below it the letters of marks could not be read
  const FLAT_ZOOM = 0.35; // below it changed boxes are filled with their line's colour

  // The three change colours differ in hue for every common kind of colour blindness, and in lightness; each has a sign.
  const THEMES = {
    light: {
      page: "#f6f7f9", divider: "#d5dae2", group: "rgba(71,85,120,0.038)", groupLine: "#ccd3de", groupText: "#46536a",
      label: "rgba(246,247,249,0.92)", box: "#ffffff", line: "#bcc5d3", text: "#172033", soft: "#5f6c82",
      closed: "#e9eef7", closedLine: "#a9b6cb", pill: "#e3e8f0", pillLine: "#c3ccd9", edge: "#8e9bb0", hub: "#c3cbd8",
      focus: "#2563eb", match: "#7c3aed", chip: "#eef1f6", chipText: "#4c5a70",
      removed: { fill: "#fde7eb", line: "#c2274b", text: "#86112f" },
      added: { fill: "#dcf1f4", line: "#007d8c", text: "#004c58" },
      changed: { fill: "#fff2c9", line: "#a67200", text: "#634500" },
    },
    dark: {
      page: "#11151c", divider: "#2b3441", group: "rgba(148,170,220,0.055)", groupLine: "#323d4d", groupText: "#a5b4c9",
      label: "rgba(17,21,28,0.9)", box: "#1c232f", line: "#414e61", text: "#e9eef7", soft: "#98a6bb",
      closed: "#232d3d", closedLine: "#536480", pill: "#263040", pillLine: "#45546a", edge: "#5f6e86", hub: "#39465a",
      focus: "#6ea8ff", match: "#b794ff", chip: "#2a3443", chipText: "#a9b7cb",
      removed: { fill: "#3d1925", line: "#ff6f8f", text: "#ffc0cd" },
      added: { fill: "#0d3339", line: "#4dd0e1", text: "#b5eef6" },
      changed: { fill: "#3a2c0a", line: "#f0b92f", text: "#ffe3a0" },
    },
  };

  // --------------------------------------------------------------------------------------------------- measuring

  const FONTS = {
    title: `600 13px ${SANS}`, caption: `12px ${SANS}`, detail: `11px ${MONO}`, chip: `10.5px ${SANS}`,
    header: `600 12px ${SANS}`, count: `11px ${SANS}`, sign: `700 12px ${SANS}`, mark: `700 8px ${SANS}`,
  };
  const widths = new Map();
  let ruler = null;

  /** Width of a text, as the sum of its letters: measured once per letter and font, not once per node. */
  function textWidth(font, text) {
    if (!widths.has(font)) widths.set(font, new Map());
    const letters = widths.get(font);
    let sum = 0;
    for (const letter of text) {
      let width = letters.get(letter);
      if (width === undefined) {
        ruler ??= document.createElement("canvas").getContext("2d");
        ruler.font = font;
        width = ruler.measureText(letter).width;
        letters.set(letter, width);
      }
      sum += width;
    }
    return sum;
  }

  function shorten(font, text, width, scale = 1) {
    if (textWidth(font, text) * scale <= width) return text;
    let cut = text;
    while (cut && textWidth(font, `${cut}\u2026`) * scale > width) cut = cut.slice(0, cut.length > 40 ? -8 : -1);
    return cut ? `${cut}\u2026` : "";
  }

  /** What a box says in one snapshot: `{title, caption, detail, chips: [{key, text}], pseudo}`. */
  function contentOf(outline, row, caption) {
    const { model } = outline;
    const { words } = root.FreezerGraph;
    const node = model.node(row);
    const pseudo = model.isPseudo(model.keyOfRow[row]);
    const first = node.outputs[0];
    const type = first ? words.shortType(first.type) : "";
    const more = node.outputs.length > 1 ? `  \u00d7${node.outputs.length}` : "";
    const plain = type === "Tensor" && first.name;
    const chips = [];
    for (const value of model.rows[row][2] || []) {
      for (const key of outline.producers.get(value) || []) {
        if (!outline.hidden[key]) continue;
        const text = words.chipText(model.node(outline.rowsOf[key].at(-1)));
        if (text && !chips.some((chip) => chip.key === key)) chips.push({ key, text, value });
      }
    }
    if (pseudo) {
      const title = node.op === "return" ? "return" : first.name;
      return { title, caption: "", detail: node.op === "return" ? "" : type, chips, pseudo };
    }
    const literal = outline.isConstant[model.keyOfRow[row]] ? words.chipText(node) || constantText(node) : "";
    return {
      title: words.opName(node.op), caption: literal || caption, detail: (plain ? `%${first.name}` : type) + more, chips, pseudo,
    };
  }

  function constantText(node) {
    const value = node.attributes.find((pair) => pair.name === "value" || pair.name === "name");
    return value ? value.text : "";
  }

  /** Size of item `index` of a scene: the largest that any of its node's versions needs, so that boxes never resize. */
  function measure(scene, index) {
    const { width, height } = leastSize(scene, index);
    return { width: 2 * Math.ceil(width / 2), height: 2 * Math.ceil(height / 2) };
  }

  function leastSize(scene, index) {
    const item = scene.items[index];
    if (item.group && item.parent < 0) return { width: 0, height: 0 };
    if (item.group) {
      const label = Math.min(240, textWidth(FONTS.header, item.group.label));
      return item.open ? { width: label + 120, height: HEADER + 20 } : { width: Math.max(168, label + 56), height: 48 };
    }
    const size = { width: 84, height: 28 };
    for (const row of scene.outline.rowsOf[item.key]) {
      const content = contentOf(scene.outline, row, item.caption);
      const title = textWidth(FONTS.title, content.title) + (content.caption ? textWidth(FONTS.caption, content.caption) + 8 : 0);
      const lines = chipLines(content.chips, 208);
      const widest = Math.max(0, ...lines.map((line) => line.at(-1).x + line.at(-1).width));
      const wide = Math.max(title + 30, textWidth(FONTS.detail, content.detail) + 24, widest + 16);
      size.width = Math.max(size.width, Math.min(250, wide));
      const text = content.detail ? 42 : 28;
      size.height = Math.max(size.height, text + (lines.length ? lines.length * CHIP_STEP + 2 : 0));
    }
    return size;
  }

  /** Chips set line by line; the last one says how many there was no room for. */
  function chipLines(chips, width) {
    const shown = chips.slice(0, MOST_CHIPS).map((chip) => ({ ...chip, text: shorten(FONTS.chip, chip.text, width - 12) }));
    if (chips.length > MOST_CHIPS) shown.push({ key: -1, text: `+${chips.length - MOST_CHIPS}` });
    const lines = [];
    for (const chip of shown) {
      chip.width = textWidth(FONTS.chip, chip.text) + 10;
      const line = lines.at(-1);
      const x = line ? line.at(-1).x + line.at(-1).width + 4 : 0;
      if (line && x + chip.width <= width) line.push(Object.assign(chip, { x }));
      else lines.push([Object.assign(chip, { x: 0 })]);
    }
    return lines;
  }

  // ----------------------------------------------------------------------------------------------------- picture

  /** One laid-out scene with the difference of two snapshots: everything the painter and the pointer ask for. */
  class Picture {
    constructor(scene, layout, before, after) {
      this.scene = scene;
      this.layout = layout;
      this.before = before;
      this.after = after;
      this.statuses = scene.model.diff(before, after);
      Object.assign(this, scene.tally(before, after, this.statuses));
      this.segmentSides = this._segmentSides(scene.edgeSides(before, after));
      this.fanOut = new Int32Array(scene.items.length);
      for (const [from] of scene.edges) this.fanOut[from]++;
      this.contents = [null, new Map(), new Map()];
      this.replaced = scene.model.replaced(before, after);
    }

    /** A line that several edges share stands on a side where any of them does. */
    _segmentSides(edges) {
      const sides = new Uint8Array(this.layout.x1.length);
      this.layout.last.forEach((segment, edge) => {
        if (segment >= 0) sides[segment] |= edges[edge];
      });
      for (let segment = sides.length - 1; segment >= 0; segment--) {
        const previous = this.layout.previous[segment];
        if (previous >= 0) sides[previous] |= sides[segment];
      }
      return sides;
    }

    snapshotOf(side) {
      return side === 1 ? this.before : this.after;
    }

    /** How many operations a closed group holds on one side. */
    opsOf(item, side) {
      return this.ops[side][item];
    }

    /** Status of a box: its own node's, not that of what it holds. */
    statusOf(item) {
      const { key } = this.scene.items[item];
      return key < 0 ? undefined : this.statuses.get(key);
    }

    content(item, side) {
      const cache = this.contents[side];
      if (!cache.has(item)) {
        const { key, caption } = this.scene.items[item];
        const snapshot = this.scene.model.snapshot(this.snapshotOf(side));
        const content = contentOf(this.scene.outline, snapshot.rowOf[key], caption);
        const chips = content.chips.filter((chip) => snapshot.producer[chip.value] === chip.key);
        cache.set(item, { ...content, lines: chipLines(chips, this.layout.width[item] - 16) });
      }
      return cache.get(item);
    }

    /** The innermost item at a point of the world that stands on `side`, or -1. */
    itemAt(x, y, side, slop = 0) {
      const { layout, scene } = this;
      for (let item = scene.items.length - 1; item > 0; item--) {
        if (!(this.sides[item] & side)) continue;
        const left = layout.x[item] - slop;
        const top = layout.y[item] - slop;
        if (x >= left && y >= top && x <= left + layout.width[item] + 2 * slop && y <= top + layout.height[item] + 2 * slop) return item;
      }
      return -1;
    }

    /** Segments on the way between an item and its neighbours. */
    segmentsOf(item) {
      const found = new Set();
      this.scene.edges.forEach(([from, to], edge) => {
        if (from !== item && to !== item) return;
        for (let at = this.layout.last[edge]; at >= 0 && !found.has(at); at = this.layout.previous[at]) found.add(at);
      });
      return found;
    }
  }

  // ----------------------------------------------------------------------------------------------------- painter

  /**
   * Draws one pane.
   *
   * @param surface a CanvasRenderingContext2D or an SvgSurface, origin at the pane's corner, clipped to it
   * @param {Picture} picture
   * @param {object} look `{side: 1|2, alone, theme, width, height, camera: {x, y, zoom}, selected, hovered, marks, matches,
   *     headerTop}`: `side` 1 is before, 2 after; `alone` where the other side is not shown; the camera's point is in the pane's middle
   */
  function paintPane(surface, picture, look) {
    const { camera, width, height } = look;
    const zoom = camera.zoom;
    const view = {
      left: camera.x - width / 2 / zoom, top: camera.y - height / 2 / zoom,
      right: camera.x + width / 2 / zoom, bottom: camera.y + height / 2 / zoom,
    };
    const job = { s: surface, picture, look, view, zoom, theme: THEMES[look.theme], ...sight(picture, look, view) };
    surface.save();
    surface.translate(width / 2, height / 2);
    surface.scale(zoom, zoom);
    surface.translate(-camera.x, -camera.y);
    paintGroups(job);
    paintEdges(job);
    paintBoxes(job);
    paintHeaders(job);
    paintFocus(job);
    surface.restore();
  }

  /** Items in view: open groups, boxes, and the outermost places where only the other side has a box. */
  function sight(picture, look, view) {
    const { layout, scene, sides } = picture;
    const [groups, boxes, ghosts] = [[], [], []];
    for (let item = 1; item < scene.items.length; item++) {
      const [x, y] = [layout.x[item], layout.y[item]];
      if (x > view.right || y > view.bottom || x + layout.width[item] < view.left || y + layout.height[item] < view.top) continue;
      if (!(sides[item] & look.side)) {
        if (sides[item] && sides[scene.items[item].parent] & look.side && !picture.replaced) ghosts.push(item);
      } else (scene.items[item].open ? groups : boxes).push(item);
    }
    return { groups, boxes, ghosts };
  }

  function outline(job, item, radius) {
    const { layout } = job.picture;
    if (job.zoom < 0.25) job.s.rect(layout.x[item], layout.y[item], layout.width[item], layout.height[item]);
    else job.s.roundRect(layout.x[item], layout.y[item], layout.width[item], layout.height[item], radius);
  }

  function paintGroups(job) {
    const { s, theme, zoom } = job;
    for (const item of job.groups) {
      s.beginPath();
      outline(job, item, 10);
      s.fillStyle = theme.group;
      s.fill();
      const status = job.picture.statusOf(item);
      s.strokeStyle = status ? theme[status].line : theme.groupLine;
      s.lineWidth = (status ? 2 : 1) / Math.min(1, zoom);
      s.stroke();
    }
    if (zoom < 0.2 || !job.ghosts.length) return;
    s.beginPath();
    for (const item of job.ghosts) outline(job, item, 7);
    s.strokeStyle = theme.groupLine;
    s.lineWidth = 1;
    s.setLineDash([4, 4]);
    s.stroke();
    s.setLineDash([]);
  }

  function paintEdges(job) {
    const { s, picture, look, view, zoom, theme } = job;
    const { layout, segmentSides } = picture;
    const near = look.selected > 0 ? picture.segmentsOf(look.selected) : new Set();
    const hover = look.hovered > 0 ? picture.segmentsOf(look.hovered) : new Set();
    const own = look.side === 1 ? "removed" : "added";
    const bins = { hub: [], edge: [], own: [], hover: [], near: [] };
    const count = layout.x1.length;
    for (let at = 0; at < count; at++) {
      if (!(segmentSides[at] & look.side)) continue;
      const [x1, x2] = [layout.x1[at], layout.x2[at]];
      if (layout.y1[at] > view.bottom || layout.y2[at] < view.top) continue;
      if ((x1 < view.left && x2 < view.left) || (x1 > view.right && x2 > view.right)) continue;
      const bin = near.has(at) ? "near" : hover.has(at) ? "hover" : segmentSides[at] !== 3 && picture.before !== null ? "own"
        : picture.fanOut[layout.owner[at]] > HUB ? "hub" : "edge";
      bins[bin].push(at);
    }
    const thin = 1.4 / Math.max(0.5, Math.min(1, zoom));
    strokeSegments(job, bins.hub, theme.hub, thin);
    strokeSegments(job, bins.edge, theme.edge, thin);
    strokeSegments(job, bins.own, theme[own].line, thin * 1.3);
    strokeSegments(job, bins.hover, theme.focus, thin * 1.3);
    strokeSegments(job, bins.near, theme.focus, thin * 1.7);
    s.lineWidth = 1;
  }

  function strokeSegments(job, segments, colour, width) {
    if (!segments.length) return;
    const { s, zoom, picture: { layout, scene } } = job;
    s.beginPath();
    for (const at of segments) {
      const [x1, y1, x2, y2] = [layout.x1[at], layout.y1[at], layout.x2[at], layout.y2[at]];
      s.moveTo(x1, y1);
      const bend = Math.min(60, Math.abs(y2 - y1) * 0.55);
      if (x1 === x2 || zoom < 0.3) s.lineTo(x2, y2);
      else s.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
    }
    s.strokeStyle = colour;
    s.lineWidth = width;
    s.stroke();
    if (zoom < 0.5) return;
    job.arrows ??= new Set(layout.last.filter((segment, edge) => segment >= 0 && !scene.items[scene.edges[edge][1]].open));
    s.beginPath();
    for (const at of segments) {
      if (!job.arrows.has(at)) continue;
      const [x, y] = [layout.x2[at], layout.y2[at]];
      s.moveTo(x, y);
      s.lineTo(x - 3.6, y - 6.5);
      s.lineTo(x + 3.6, y - 6.5);
      s.closePath();
    }
    s.fillStyle = colour;
    s.fill();
  }

  /** Boxes in one path per style, then what stands in them. */
  function paintBoxes(job) {
    const { s, picture, theme, zoom } = job;
    const bins = new Map();
    for (const item of job.boxes) {
      const style = styleOf(job, item);
      if (!bins.has(style)) bins.set(style, []);
      bins.get(style).push(item);
    }
    for (const [style, items] of bins) {
      const change = theme[style] && theme[style].fill ? theme[style] : null;
      const [fill, line] = change ? [change.fill, change.line]
        : style === "closed" ? [theme.closed, theme.closedLine] : style === "pill" ? [theme.pill, theme.pillLine] : [theme.box, theme.line];
      if (style === "closed" && zoom > 0.3) paintStack(job, items);
      s.beginPath();
      for (const item of items) outline(job, item, style === "pill" ? Math.min(14, picture.layout.height[item] / 2) : 7);
      // From afar a change is filled with its line's colour, and the rest with its own.
      s.fillStyle = change && zoom < FLAT_ZOOM ? line : fill;
      s.fill();
      s.strokeStyle = line;
      // A changed box keeps two pixels of line around it, so that it never vanishes.
      s.lineWidth = change ? Math.max(1.6, zoom < FLAT_ZOOM ? 2 / zoom : 0) : Math.min(3, 1 / Math.min(1, zoom));
      if (change || zoom > 0.08) s.stroke();
    }
    for (const item of job.boxes) {
      if (picture.scene.items[item].group) paintClosed(job, item);
      else if (zoom >= 0.2) paintContent(job, item);
      paintMarks(job, item);
    }
  }

  function styleOf(job, item) {
    const status = job.picture.statusOf(item);
    const { group, key } = job.picture.scene.items[item];
    if (group && !status) return "closed";
    // A pill that changed only says that something else did: it keeps its colour.
    if (!group && job.picture.scene.model.isPseudo(key)) return "pill";
    return status || "box";
  }

  function paintStack(job, items) {
    const { s, theme, picture: { layout } } = job;
    s.beginPath();
    for (const item of items) s.roundRect(layout.x[item] + 4, layout.y[item] + 4, layout.width[item] - 1, layout.height[item] - 1, 7);
    s.fillStyle = theme.pill;
    s.fill();
    s.strokeStyle = theme.closedLine;
    s.lineWidth = 1;
    s.stroke();
  }

  function write(job, text, x, y, font, colour, align = "left") {
    job.s.font = font;
    job.s.fillStyle = colour;
    job.s.textAlign = align;
    job.s.textBaseline = "middle";
    job.s.fillText(text, x, y);
  }

  function paintContent(job, item) {
    const { picture, theme, zoom, look } = job;
    const { layout } = picture;
    const content = picture.content(item, look.side);
    const status = picture.statusOf(item);
    const own = !content.pseudo && status ? theme[status] : null;
    const [x, y, width] = [layout.x[item], layout.y[item], layout.width[item]];
    const middle = x + width / 2;
    if (zoom < 0.5) return paintFarTitle(job, item, content, own);
    const room = width - 16;
    const top = y + (content.detail ? 15 : 14);
    const full = textWidth(FONTS.title, content.title) + (content.caption ? textWidth(FONTS.caption, content.caption) + 7 : 0);
    if (content.caption && full <= room) {
      const start = middle - full / 2;
      write(job, content.title, start, top, FONTS.title, own ? own.text : theme.text);
      const after = start + textWidth(FONTS.title, content.title) + 7;
      write(job, content.caption, after, top, FONTS.caption, own ? own.text : theme.soft);
    } else write(job, shorten(FONTS.title, content.title, room), middle, top, FONTS.title, own ? own.text : theme.text, "center");
    if (content.detail) {
      write(job, shorten(FONTS.detail, content.detail, room), middle, top + LINE_TITLE, FONTS.detail, own ? own.text : theme.soft, "center");
    }
    paintChips(job, item, content, y + (content.detail ? 41 : 27));
    if (own) paintSign(job, x, y, status);
  }

  /** Too small for all of it: the title alone, as large as the box allows, cut where it could not be read. */
  function paintFarTitle(job, item, content, own) {
    const { layout } = job.picture;
    const { theme, zoom } = job;
    const [width, height] = [layout.width[item], layout.height[item]];
    const room = width - 8;
    const fitting = Math.min(10 / zoom, 26, (13 * room) / textWidth(FONTS.title, content.title), height - 4);
    const size = Math.max(fitting, Math.min(7 / zoom, height - 4));
    if (size * zoom < 4) return;
    const text = shorten(FONTS.title, content.title, room, size / 13);
    const font = FONTS.title.replace("13px", `${size.toFixed(1)}px`);
    const colour = !own ? theme.text : zoom < FLAT_ZOOM ? theme.box : own.text;
    write(job, text, layout.x[item] + width / 2, layout.y[item] + height / 2, font, colour, "center");
  }

  function paintChips(job, item, content, top) {
    const { s, picture, theme, look } = job;
    content.lines.forEach((line, number) => {
      const end = line.at(-1);
      const start = picture.layout.x[item] + (picture.layout.width[item] - end.x - end.width) / 2;
      for (const chip of line) {
        const status = picture.statuses.get(chip.key);
        const mark = look.marks.get(chip.key);
        const y = top + number * CHIP_STEP;
        s.beginPath();
        s.roundRect(start + chip.x, y, chip.width, CHIP_HEIGHT, 7);
        s.fillStyle = status ? theme[status].fill : theme.chip;
        s.fill();
        if (status || mark) {
          s.strokeStyle = mark ? mark.fill : theme[status].line;
          s.lineWidth = mark ? 2 : 1;
          s.stroke();
        }
        const text = status ? theme[status].text : theme.chipText;
        write(job, chip.text, start + chip.x + chip.width / 2, y + 8, FONTS.chip, text, "center");
        if (mark) paintMarkSign(job, mark, start + chip.x, y + 8);
      }
    });
  }

  /** A mark's letter, for colour alone does not tell marks apart to everyone. */
  function paintMarkSign(job, mark, x, y) {
    if (!mark.sign) return;
    job.s.beginPath();
    job.s.arc(x - 2, y, 5.5, 0, 2 * Math.PI);
    job.s.fillStyle = mark.fill;
    job.s.fill();
    write(job, mark.sign, x - 2, y + 0.5, FONTS.mark, job.theme.box, "center");
  }

  function paintSign(job, x, y, status) {
    const { s, theme } = job;
    s.beginPath();
    s.arc(x + 1, y + 1, 8, 0, 2 * Math.PI);
    s.fillStyle = theme[status].line;
    s.fill();
    write(job, SIGNS[status], x + 1, y + 1.5, FONTS.sign, theme.box, "center");
  }

  function paintMarks(job, item) {
    const { s, picture: { layout, scene }, look } = job;
    const mark = look.marks.get(scene.items[item].key) || look.groupMarks.get(item);
    if (!mark) return;
    const width = Math.max(5, 2 / job.zoom);
    const [right, top, height] = [layout.x[item] + layout.width[item], layout.y[item], layout.height[item]];
    const { group } = scene.items[item];
    s.beginPath();
    if (group) s.arc(right - 12, top + 14, width, 0, 2 * Math.PI);
    else s.rect(right - width - 1, top + 5, width, height - 10);
    s.fillStyle = mark.fill;
    s.fill();
    if (job.zoom >= SIGN_ZOOM) paintMarkSign(job, mark, group ? right - 12 : right - 3, group ? top + 14 : top + height / 2);
  }

  /** What changed in a group, as far as it is seen in this pane: what was removed before, what was added after. */
  function badgesOf({ picture, look }, item) {
    const hidden = look.alone ? "" : look.side === 1 ? "added" : "removed";
    return ["removed", "added", "changed"].filter((status) => status !== hidden && picture.counts[status][item])
      .map((status) => ({ status, text: `${SIGNS[status]}${picture.counts[status][item]}` }));
  }

  function paintClosed(job, item) {
    const { picture, theme, zoom, s } = job;
    const { layout, scene } = picture;
    const { group } = scene.items[item];
    const [x, y, width, height] = [layout.x[item], layout.y[item], layout.width[item], layout.height[item]];
    const badges = badgesOf(job, item);
    if (badges.length && zoom < 0.5) {
      // From afar the badge is a band of the first change's colour, never thinner than can be seen.
      s.beginPath();
      s.rect(x, y, Math.max(width * 0.06, 4 / zoom), height);
      s.fillStyle = theme[badges[0].status].line;
      s.fill();
    }
    if (zoom < 0.2) return;
    if (zoom < 0.5) {
      const scale = Math.min(10.5 / zoom, 22) / 12;
      const font = FONTS.header.replace("12px", `${(12 * scale).toFixed(1)}px`);
      const text = shorten(FONTS.header, group.label, width - 8, scale);
      write(job, text, x + width / 2, y + height / 2, font, theme.text, "center");
      return;
    }
    paintToggle(job, x + 15, y + 16, true);
    write(job, shorten(FONTS.header, group.label, width - 38), x + 28, y + 16, FONTS.header, theme.text);
    const ops = root.FreezerGraph.words.count(picture.opsOf(item, job.look.side), "op");
    write(job, ops, x + 28, y + 34, FONTS.count, theme.soft);
    const needed = badges.reduce((sum, badge) => sum + textWidth(FONTS.header, badge.text) + 13, 0);
    paintBadges(job, badges, Math.min(x + 36 + textWidth(FONTS.count, ops), x + width - 4 - needed), y + 34);
  }

  function paintBadges(job, badges, x, y) {
    const { s, theme } = job;
    for (const { status, text } of badges) {
      const width = textWidth(FONTS.header, text) + 9;
      s.beginPath();
      s.roundRect(x, y - 8, width, 16, 5);
      s.fillStyle = theme[status].fill;
      s.fill();
      s.strokeStyle = theme[status].line;
      s.lineWidth = 1;
      s.stroke();
      write(job, text, x + width / 2, y + 0.5, FONTS.header, theme[status].text, "center");
      x += width + 4;
    }
  }

  function paintToggle(job, x, y, closed) {
    const { s, theme } = job;
    s.beginPath();
    s.roundRect(x - 6, y - 6, 12, 12, 3);
    s.fillStyle = theme.box;
    s.fill();
    s.strokeStyle = theme.closedLine;
    s.lineWidth = 1;
    s.stroke();
    s.beginPath();
    s.moveTo(x - 3, y);
    s.lineTo(x + 3, y);
    if (closed) {
      s.moveTo(x, y - 3);
      s.lineTo(x, y + 3);
    }
    s.strokeStyle = theme.soft;
    s.lineWidth = 1.4;
    s.stroke();
  }

  /** Names of open groups. They stay in view while any of the group is, one below the other, as a path to here. */
  function paintHeaders(job) {
    const { picture: { layout, scene }, look, view, zoom } = job;
    const taken = [];
    // Where boxes can be read, names take the room kept for them; from further away they are what is to be read.
    const far = Math.min(1, Math.max(0, (0.6 - zoom) / 0.2));
    const scale = 1 + far * (Math.max(1, Math.min(5, 0.8 / zoom)) - 1);
    const line = HEADER * scale;
    look.headers = [];
    for (const item of job.groups) {
      const { group, parent } = scene.items[item];
      if (layout.width[item] * zoom < 34 || layout.height[item] * zoom < 16) continue;
      const above = look.headers.find((header) => header.item === parent);
      const least = above ? above.y + line : view.top + look.headerTop / zoom;
      const y = Math.max(layout.y[item], Math.min(least, layout.y[item] + layout.height[item] - line - 6));
      const width = layout.width[item];
      const status = job.picture.statusOf(item);
      const label = shorten(FONTS.header, (status ? `${SIGNS[status]} ` : "") + group.label, width - 34 * scale, scale);
      const box = { item, x: layout.x[item] + 6, y, width: textWidth(FONTS.header, label) * scale + 26 * scale, height: line };
      look.headers.push(box);
      if (!label || taken.some((other) => overlaps(other, box))) continue;
      taken.push(box);
      paintHeader(job, item, box, label, scale);
    }
  }

  function overlaps(a, b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height * 0.8 && b.y < a.y + a.height * 0.8;
  }

  function paintHeader(job, item, box, label, scale) {
    const { s, theme, picture } = job;
    const status = picture.statusOf(item);
    s.save();
    s.translate(box.x, box.y + 3 * scale);
    s.scale(scale, scale);
    s.beginPath();
    s.roundRect(0, 2, box.width / scale, 19, 5);
    s.fillStyle = status ? theme[status].fill : theme.label;
    s.fill();
    paintToggle(job, 10, 11.5, false);
    write(job, label, 21, 12, FONTS.header, status ? theme[status].text : theme.groupText);
    const room = (picture.layout.width[item] - box.width) / scale - 12;
    const badges = badgesOf(job, item);
    const needed = badges.reduce((sum, badge) => sum + textWidth(FONTS.header, badge.text) + 13, 0);
    // From afar the changed boxes themselves are what is seen.
    if (needed <= room && scale < 1.5) paintBadges(job, badges, box.width / scale + 6, 12);
    s.restore();
  }

  function paintFocus(job) {
    const { s, picture: { layout, scene, sides }, look, theme, zoom } = job;
    const frame = (item, colour, width, gap) => {
      if (item <= 0 || item >= scene.items.length || !sides[item]) return;
      s.beginPath();
      s.roundRect(layout.x[item] - gap, layout.y[item] - gap, layout.width[item] + 2 * gap, layout.height[item] + 2 * gap, 9);
      s.strokeStyle = colour;
      s.lineWidth = width / Math.min(1, zoom);
      s.stroke();
    };
    for (const item of look.matches) frame(item, theme.match, 2, 3 / Math.min(1, zoom));
    frame(look.hovered, theme.focus, 1, 2);
    frame(look.selected, theme.focus, 2.5, 4);
  }

  // --------------------------------------------------------------------------------------------------------- SVG

  /** The part of a 2D context that the painter uses, writing SVG. Coordinates come out in CSS pixels. */
  class SvgSurface {
    constructor(width, height) {
      Object.assign(this, { width, height, out: [], path: [], stack: [], clips: 0 });
      Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "", textAlign: "left", textBaseline: "middle" });
      this.at = { x: 0, y: 0, scale: 1, groups: 0 };
      this.dash = [];
    }

    save() { this.stack.push({ ...this.at }); this.at.groups = 0; }
    restore() { this.out.push("</g>".repeat(this.at.groups)); this.at = this.stack.pop(); }
    translate(x, y) { this.at.x += x * this.at.scale; this.at.y += y * this.at.scale; }
    scale(factor) { this.at.scale *= factor; }
    setLineDash(dash) { this.dash = dash; }
    beginPath() { this.path = []; }
    closePath() { this.path.push("Z"); }
    moveTo(x, y) { this.path.push(`M${this._point(x, y)}`); }
    lineTo(x, y) { this.path.push(`L${this._point(x, y)}`); }
    bezierCurveTo(a, b, c, d, e, f) { this.path.push(`C${this._point(a, b)} ${this._point(c, d)} ${this._point(e, f)}`); }
    rect(x, y, width, height) { this.roundRect(x, y, width, height, 0); }

    roundRect(x, y, width, height, radius) {
      const r = Math.max(0, Math.min(radius, width / 2, height / 2));
      const size = this._number(r * this.at.scale);
      const arc = (toX, toY) => (r ? `A${size} ${size} 0 0 1 ${this._point(toX, toY)}` : "");
      this.path.push(`M${this._point(x + r, y)}L${this._point(x + width - r, y)}${arc(x + width, y + r)}` +
        `L${this._point(x + width, y + height - r)}${arc(x + width - r, y + height)}L${this._point(x + r, y + height)}` +
        `${arc(x, y + height - r)}L${this._point(x, y + r)}${arc(x + r, y)}Z`);
    }

    arc(x, y, radius) {
      this.roundRect(x - radius, y - radius, 2 * radius, 2 * radius, radius);
    }

    clip() {
      const id = `clip${++this.clips}`;
      this.out.push(`<clipPath id="${id}"><path d="${this.path.join("")}"/></clipPath><g clip-path="url(#${id})">`);
      this.at.groups++;
    }

    fill() {
      if (this.path.length) this.out.push(`<path d="${this.path.join("")}" fill="${escapeXml(this.fillStyle)}"/>`);
    }

    stroke() {
      if (!this.path.length) return;
      const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map((part) => this._number(part * this.at.scale)).join(" ")}"` : "";
      const width = this._number(this.lineWidth * this.at.scale);
      this.out.push(`<path d="${this.path.join("")}" fill="none" stroke="${escapeXml(this.strokeStyle)}" stroke-width="${width}"${dash}/>`);
    }

    fillText(text, x, y) {
      const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font);
      const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
      const [left, top] = this._point(x, y).split(" ");
      this.out.push(`<text x="${left}" y="${top}" dominant-baseline="central" text-anchor="${anchor}" fill="${escapeXml(this.fillStyle)}" ` +
        `font-family="${escapeXml(family)}" font-size="${this._number(size * this.at.scale)}"${weight ? ` font-weight="${weight}"` : ""}>` +
        `${escapeXml(text)}</text>`);
    }

    toString() {
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" ` +
        `viewBox="0 0 ${this.width} ${this.height}">${this.out.join("")}</svg>`;
    }

    _number(value) { return String(Math.round(value * 100) / 100); }
    _point(x, y) { return `${this._number(this.at.x + x * this.at.scale)} ${this._number(this.at.y + y * this.at.scale)}`; }
  }

  function escapeXml(text) {
    // Characters that XML 1.0 does not allow at all become the replacement character.
    const legal = String(text).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
    return legal.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  }

  function element(name, className, parent) {
    const made = document.createElement(name);
    made.className = className;
    parent.append(made);
    return made;
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph || {}, {
    draw: { THEMES, FONTS, SIGNS, HIT_SLOP, PANE_HEAD, Picture, element, SvgSurface, measure, paintPane, textWidth, shorten },
  });
})(globalThis);
