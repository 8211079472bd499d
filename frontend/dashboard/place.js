/* Where the user is: the address of the page that is shown, the browser's history, and how far each page was scrolled. */

import { formatRoute, parseRoute } from "./words.js";

export class Place {
  /**
   * @param {Element} stage its only child is the page that is shown
   * @param {(route: Route) => void} show shows the page of a route
   */
  constructor(stage, show) {
    this.stage = stage;
    this.show = show;
    this.shown = ""; // the address of the page
    /** @type {Map<string, number>} */
    this.scrolls = new Map();
  }

  /**
   * Shows the first page.
   * @param {string | null | undefined} start the address to show unless the browser's names a page
   */
  start(start) {
    // A state was written by this page: it is being reloaded, and stays where it is.
    const fresh = history.state === null && parseRoute(location.search).page === "home";
    if (fresh && start) history.replaceState({ freezer: true }, "", start);
    this.arrive(parseRoute(location.search));
  }

  /**
   * Goes to another page; see Dashboard.go.
   * @param {Route} route
   * @param {{ replace?: boolean, fragment?: string, state?: object }} [how]
   */
  go(route, { replace = false, fragment = "", state = {} } = {}) {
    const url = location.pathname + formatRoute(route) + fragment;
    this.keepScroll();
    if (replace) history.replaceState({ freezer: true, ...state }, "", url);
    else history.pushState({ freezer: true, ...state }, "", url);
    this.arrive(route);
  }

  /**
   * Corrects the address of the page that is shown.
   * @param {Route} route
   */
  rename(route, state = {}) {
    this.shown = formatRoute(route);
    history.replaceState({ freezer: true, ...state }, "", location.pathname + this.shown);
  }

  /** The browser went back or forward; within one trace, the viewer follows by itself. */
  follow() {
    const route = parseRoute(location.search);
    if (formatRoute(route) === this.shown) return;
    this.keepScroll();
    this.arrive(route);
    /** @type {Element} */ (this.stage.firstElementChild).scrollTop = this.scrolls.get(this.shown) ?? 0;
  }

  /** @param {Route} route */
  arrive(route) {
    this.shown = formatRoute(route);
    this.show(route);
  }

  keepScroll() {
    if (this.stage.firstElementChild) this.scrolls.set(this.shown, this.stage.firstElementChild.scrollTop);
  }
}
