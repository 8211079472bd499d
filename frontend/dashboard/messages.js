/* Short messages of the dashboard: in a corner of the page, and for screen readers. */

import { h } from "../viewer/dom.js";
import { button, iconButton } from "./pieces.js";

const TOAST_MS = 6000;
const ANNOUNCE_MS = 8000;

export class Messages {
  constructor() {
    this.toasts = h("div.fd-toasts", { role: "status", "aria-live": "polite" });
    this.live = h("div.fd-unseen", { role: "status", "aria-live": "polite" });
    this.announced = -Infinity; // when the last one was, in ms
  }

  /**
   * Shows a message with an action, `[label, run]`. A `bad` one stays until it is closed.
   * @param {string} text
   */
  say(text, { action = null, bad = false } = {}) {
    const close = () => toast.remove();
    const act = action && button(action[0], () => (close(), /** @type {any} */ (action[1])()));
    const toast = h(
      "div.fd-toast",
      { class: bad ? "fd-bad-toast" : "" },
      h("span", null, text),
      act,
      bad && iconButton("close", "Close this message", close),
    );
    this.toasts.append(toast);
    if (!bad) setTimeout(close, TOAST_MS);
  }

  /**
   * Announces progress to screen readers, at intervals, or `soon`.
   * @param {string} text
   */
  announce(text, { soon = false } = {}) {
    const now = Date.now();
    if (!text || text === this.live.textContent || (!soon && now - this.announced < ANNOUNCE_MS)) return;
    this.announced = now;
    this.live.textContent = text;
  }
}
