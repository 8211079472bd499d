/* A tour of a minute: five places of a trace's page, on the first visit, and again from the sheet of keys. */

import { fill, h } from "../viewer/dom.js";
import { button } from "./pieces.js";

const KEY = "freezer-toured";
const GAP = 5; // px between the ring and its place

/**
 * Title, text, the tab to show (the first one if `first`), and the elements to point at, of which the first visible one counts.
 * @typedef {{ title: string, text: string, first?: boolean, tab?: string, places: string[] }} Stop
 */

/** @type {Stop[]} */
const PASS_STOPS = [
  {
    title: "Every pass of torch",
    text: "Each line is one pass, in the order torch ran them. Bold ones changed something. The arrow keys move from pass to pass; each says what it does, and why it changed nothing.",
    tab: "graph",
    places: [".fv-passes", ".fv-drawer-button"],
  },
  {
    title: "The graph, before and after",
    text: "The operations before and after the chosen pass: removed, added and changed ones are marked. Click a node to see its shape, its line in your source, and its history.",
    tab: "graph",
    places: ["[id$='-tab-graph']"],
  },
];

/** @type {Stop[]} */
const GRAPH_STOPS = [
  {
    title: "Every graph of the trace",
    text: "Each line is the graph of one method. No pass was recorded.",
    tab: "graph",
    places: [".fv-passes", ".fv-drawer-button"],
  },
  {
    title: "The graph",
    text: "The operations of the chosen graph. Click a node to see its shape and its line in your source.",
    tab: "graph",
    places: ["[id$='-tab-graph']"],
  },
];

/**
 * The stops of the tour.
 * @param {ViewStep[]} steps of the trace; a frozen file that was opened has the graph but no pass
 * @returns {Stop[]}
 */
export function stopsOf(steps) {
  return [
    {
      title: "The answer first",
      text: "The outcome of freezing: how many weights became constants, and the measured time of a call and error against the model before.",
      first: true,
      places: [".fv-answer-sentence", ".fv-facts", ".fv-header"],
    },
    ...(steps.some((step) => step.stage !== "input") ? PASS_STOPS : GRAPH_STOPS),
    {
      title: "What became of the weights",
      text: "Each parameter and buffer with its fate. Where one was not frozen, Why leads to the line that prevents it, and to advice.",
      tab: "attributes",
      places: ["[id$='-tab-attributes']"],
    },
    {
      title: "What to make of it",
      text: "What made the model faster, what changed its results, and what the checks found. Press ? for all keys, signs and terms; the tour is there, too.",
      tab: "findings",
      places: ["[id$='-tab-findings']"],
    },
  ];
}

/** Whether this browser has seen the tour, or somebody has left it. */
export function wasToured() {
  return localStorage.getItem(KEY) !== null;
}

let running = /** @type {Tour | null} */ (null);

/** A small dialog that points at one place after the other; the page stays usable. */
export class Tour {
  /**
   * Starts it; one that runs is replaced.
   * @param {Viewer} viewer
   */
  constructor(viewer) {
    running?.end();
    running = this;
    this.viewer = viewer;
    this.stops = stopsOf(viewer.model.steps);
    this.at = 0;
    this.before = viewer.state();
    /** The tab that the stop shows. */
    this.tab = this.before.tab;
    this.back = /** @type {HTMLElement | null} */ (/** @type {any} */ (viewer.root.getRootNode()).activeElement);
    this.ring = h("div.fd-tour-ring", { "aria-hidden": "true" });
    this.box = h("div.fd-tour", { role: "dialog", tabindex: "-1", "aria-label": "Tour" });
    viewer.root.append(this.ring, this.box);
    this.resized = new ResizeObserver(() => this.place());
    this.resized.observe(viewer.root);
    this.forget = viewer.on("tab", (/** @type {string} */ tab) => this.follow(tab));
    this.escape = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      this.end();
    };
    document.addEventListener("keydown", this.escape, true);
    viewer.stops.push(() => this.end());
    localStorage.setItem(KEY, "1");
    this.show();
  }

  show() {
    const stop = this.stops[this.at];
    const [firstTab] = this.viewer.panels.keys();
    this.tab = stop.first ? firstTab : (stop.tab ?? this.tab);
    this.viewer.navigate({ tab: this.tab });
    const isLast = this.at === this.stops.length - 1;
    const title = h("h2", null, stop.title);
    fill(
      this.box,
      title,
      h("p", { id: `${this.viewer.prefix}-tour-text` }, stop.text),
      h(
        "div.fd-row",
        null,
        h("span.fv-muted.fv-num", null, `${this.at + 1} of ${this.stops.length}`),
        h("span.fv-spring"),
        isLast ? null : button("End the tour", () => this.end()),
        this.at ? button("Back", () => this.go(-1)) : null,
        button(isLast ? "Done" : "Next", () => (isLast ? this.end() : this.go(1)), { kind: "primary" }),
      ),
    );
    this.box.setAttribute("aria-label", `Tour, ${this.at + 1} of ${this.stops.length}: ${stop.title}`);
    this.box.setAttribute("aria-describedby", `${this.viewer.prefix}-tour-text`);
    this.place();
    this.box.focus({ preventScroll: true });
  }

  /** @param {number} by */
  go(by) {
    this.at += by;
    this.show();
  }

  /**
   * A reader who opens another tab has left the tour.
   * @param {string} tab
   */
  follow(tab) {
    if (tab === this.tab) return;
    this.before = this.viewer.state();
    this.back = null;
    this.end();
  }

  /** The ring around the place, the box beside it, both inside the viewer. */
  place() {
    const target = this.target();
    if (!target) return;
    target.scrollIntoView({ block: "nearest", inline: "nearest" });
    const [outer, inner] = [this.viewer.root.getBoundingClientRect(), target.getBoundingClientRect()];
    const [left, top] = [inner.left - outer.left, inner.top - outer.top];
    const edge = Math.max(0, Math.min(GAP, left, outer.width - left - inner.width)); // the ring stays inside
    const size = {
      left: `${left - edge}px`,
      top: `${top - GAP}px`,
      width: `${inner.width + 2 * edge}px`,
      height: `${inner.height + 2 * GAP}px`,
    };
    Object.assign(this.ring.style, size);
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const isTall = inner.height > outer.height / 2; // the pass list: the box is beside it
    const x = isTall ? left + inner.width + 12 : left;
    const y = isTall ? top + 40 : top + inner.height + 10;
    this.box.style.left = `${Math.max(8, Math.min(x, outer.width - width - 8))}px`;
    this.box.style.top = `${Math.max(8, Math.min(y, outer.height - height - 8))}px`;
  }

  target() {
    const found = this.stops[this.at].places.map((/** @type {string} */ place) =>
      this.viewer.root.querySelector(place),
    );
    return found.find((element) => element && element.getClientRects().length && isInside(element, this.viewer.root));
  }

  /** Takes it off the page, and shows what was shown before. */
  end() {
    if (running !== this) return;
    running = null;
    document.removeEventListener("keydown", this.escape, true);
    this.resized.disconnect();
    this.forget();
    this.ring.remove();
    this.box.remove();
    if (this.viewer.gone) return;
    this.viewer.navigate({ tab: this.before.tab });
    this.back?.focus({ preventScroll: true });
  }
}

/**
 * Whether something of an element lies in the viewer: a closed drawer lies beside it.
 * @param {Element} element
 * @param {HTMLElement} root
 */
function isInside(element, root) {
  const [outer, inner] = [root.getBoundingClientRect(), element.getBoundingClientRect()];
  return inner.right > outer.left + 8 && inner.left < outer.right - 8;
}
