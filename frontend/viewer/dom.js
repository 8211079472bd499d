/* Small pieces of page: element builder, virtual list. Data only ever enters the page as text. */

/**
 * Makes an element. Strings among the children become text nodes, never markup.
 * @template {string} Tag
 * @param {Tag} tag tag name, with classes after dots: "button.link"
 * @param {Props | null} [props] "on…" adds a listener, "data" sets data attributes, the rest are attributes
 * @param {...Child} children null and false are left out
 * @returns {ElementOf<Tag>}
 */
export function h(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(props || {})) setProperty(element, key, value);
  append(element, children);
  return /** @type {any} */ (element);
}

/**
 * @param {HTMLElement} element
 * @param {string} key
 * @param {any} value
 */
function setProperty(element, key, value) {
  if (value === null || value === undefined || value === false) return;
  if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
  else if (key === "class") element.classList.add(...value.split(" ").filter(Boolean));
  else if (key === "data") Object.assign(element.dataset, value);
  else if (key === "style") for (const [name, text] of Object.entries(value)) element.style.setProperty(name, text);
  else element.setAttribute(key, value === true ? "" : value);
}

/**
 * @param {Element | ShadowRoot} element
 * @param {readonly Child[]} children
 */
function append(element, children) {
  for (const child of /** @type {any[]} */ (/** @type {any} */ (children).flat(Infinity))) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replaces what an element holds.
 * @template {Element | ShadowRoot} Of
 * @param {Of} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/**
 * Makes an element of SVG; strings among the children become text nodes.
 * @param {string} tag
 * @param {Record<string, any>} props attributes
 * @param {...(Node | string)} children
 */
export function svg(tag, props, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(props)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** @type {Record<string, string>} */
const ICONS = {
  link: "M6.5 9.5a3 3 0 0 0 4.2 0l2.6-2.6a3 3 0 1 0-4.2-4.2L8 3.8M9.5 6.5a3 3 0 0 0-4.2 0L2.7 9.1a3 3 0 1 0 4.2 4.2L8 12.2",
  theme: "M8 2a6 6 0 1 0 0 12ZM8 2a6 6 0 0 1 0 12",
  keys: "M1.5 4.5h13v7h-13ZM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 9.3h6",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  save: "M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.5 13.5h11",
  code: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  page: "M4 1.5h5.5L12.5 4.5v10h-8.5zM9.5 1.5v3h3",
};

/**
 * A small drawn sign that no font can lack: one of ours, or the `d` of a path in a box of 16 × 16.
 * @param {any} name
 */
export function icon(name) {
  const path = svg("path", { d: ICONS[name] ?? name, ...(name === "theme" ? { class: "fv-icon-half" } : {}) });
  return svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, path);
}

/** A list of rows of one height of which only the visible ones are in the page. */
export class VirtualList {
  /**
   * @param {object} options
   * @param {number} options.rowHeight px
   * @param {{ below: number, rowHeight: number } | null} [options.narrow] another height in a list less wide than that, px
   * @param {(index: number) => HTMLElement} options.row makes one row
   * @param {Props} [options.props] of the scrolling element
   */
  constructor({ rowHeight, row, props, narrow = null }) {
    // Other methods set these.
    this.range = /** @type {any} */ (undefined);
    this.heights = { wide: rowHeight, narrow };
    this.rowHeight = rowHeight;
    this.row = row;
    /** @type {Map<number, HTMLElement>} */
    this.rows = new Map(); // those in the page, by index
    this.count = 0;
    this.body = h("div.fv-virtual-body", { role: "presentation" });
    this.element = h("div.fv-virtual", { tabindex: "0", ...props }, this.body);
    this.element.addEventListener("scroll", () => this.paint(), { passive: true });
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.element);
  }

  /** Gives the rows the height for the list's width; the first visible row stays the first. */
  fit() {
    const { wide, narrow } = this.heights;
    const rowHeight =
      narrow && this.element.offsetWidth && this.element.offsetWidth < narrow.below ? narrow.rowHeight : wide;
    if (rowHeight === this.rowHeight) return this.paint();
    const first = this.element.scrollTop / this.rowHeight;
    this.rowHeight = rowHeight;
    this.update(this.count, first * rowHeight);
  }

  /**
   * Shows `count` rows anew; keeps the scroll position unless a position is given.
   * @param {number} count
   * @param {number | null} [top]
   */
  update(count, top = null) {
    this.count = count;
    this.range = null;
    this.body.style.height = `${count * this.rowHeight}px`;
    if (top !== null) this.element.scrollTop = top;
    this.paint();
  }

  paint() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.rowHeight) - 10);
    const last = Math.min(this.count, Math.ceil((scrollTop + clientHeight) / this.rowHeight) + 10);
    const range = `${first}:${last}`;
    if (range === this.range) return;
    // Rows that stay in sight stay the same elements: making all of them anew takes several frames.
    const known = this.range === null ? new Map() : this.rows;
    this.range = range;
    /** @type {Map<number, HTMLElement>} */
    this.rows = new Map();
    const kept = [];
    for (let index = first; index < last; index += 1) {
      const row = known.get(index) ?? this.row(index);
      row.style.top = `${index * this.rowHeight}px`;
      this.rows.set(index, row);
      kept.push(row);
    }
    const stays = new Set(kept);
    for (const child of [...this.body.children]) if (!stays.has(/** @type {HTMLElement} */ (child))) child.remove();
    let next = null;
    for (const row of kept.reverse()) {
      if (row.parentNode !== this.body || row.nextSibling !== next) this.body.insertBefore(row, next);
      next = row;
    }
  }

  destroy() {
    this.observer.disconnect();
  }

  /** Repaints the visible rows. */
  refresh() {
    this.range = null;
    this.paint();
  }

  /**
   * Scrolls as little as makes the row visible, or puts it in the middle.
   * @param {number} index
   */
  reveal(index, { middle = false } = {}) {
    const { scrollTop, clientHeight } = this.element;
    const top = index * this.rowHeight;
    const hidden = top < scrollTop || top + this.rowHeight > scrollTop + clientHeight;
    if (!hidden) return;
    const centred = top - (clientHeight - this.rowHeight) / 2;
    const nearest = top < scrollTop ? top : top + this.rowHeight - clientHeight;
    this.element.scrollTop = middle ? centred : nearest;
    this.paint();
  }
}

/**
 * Scrolls one box, and none around it, as little as shows an element in it, `below` px under its edge, or puts it in the middle.
 * @param {any} box
 * @param {HTMLElement} element
 */
export function reveal(box, element, { middle = false, below = 0 } = {}) {
  const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  for (const [start, end, scroll] of [
    ["top", "bottom", "scrollTop"],
    ["left", "right", "scrollLeft"],
  ]) {
    const before = /** @type {Record<string, any>} */ (inner)[start] - outer[start] - (start === "top" ? below : 0);
    const after = /** @type {Record<string, any>} */ (inner)[end] - outer[end];
    if (middle && scroll === "scrollTop") box[scroll] += (before + after) / 2;
    else if (before < 0) box[scroll] += before;
    else if (after > 0) box[scroll] += Math.min(after, before);
  }
}

/**
 * The place in a list that a key leads to; handles the key.
 * @param {KeyboardEvent} event
 * @param {number} at the place now, -1 for none
 * @param {number} count how many places there are
 * @param {number} page how many places a page is
 * @returns {number|null} null where the key leads nowhere
 */
export function listMove(event, at, count, page) {
  const move = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
  if (move === undefined || !count) return null;
  event.preventDefault();
  event.stopPropagation();
  return Math.max(0, Math.min(count - 1, at + move));
}

/**
 * Puts a text on the clipboard, and resolves to whether that went well.
 * @param {string} text
 */
export async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (refused) {
    // Pages from disk, over plain HTTP or in a frame may get no clipboard, and then `clipboard` may be missing, too.
    if (!(refused instanceof DOMException || refused instanceof TypeError)) throw refused;
    return false;
  }
}

/**
 * Whether the user is marking text around an element: a click then ends that, and is no choice.
 * @param {any} element
 */
export function selectsText(element) {
  const selection = /** @type {any} */ (element.getRootNode()).getSelection?.() ?? getSelection(); // Chromium's shadow roots have their own
  return !selection.isCollapsed;
}
