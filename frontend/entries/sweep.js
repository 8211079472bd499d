/* The page of a sweep as a file, as `FreezerSweep`. */

import { fill, h } from "../viewer/dom.js";
import { fileAddress } from "../sweep/model.js";
import { SweepView } from "../sweep/view.js";

/**
 * @param {HTMLElement} root
 * @param {any} data
 */
function mount(root, data) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => (root.dataset.scheme = dark.matches ? "dark" : "light");
  dark.addEventListener("change", paint);
  paint();
  root.classList.add("fv", "fs-page");
  const content = h("main.fs");
  fill(root, content);
  // A page from disk cannot show a trace: it names the command that does, and the file.
  const link = (/** @type {any} */ row) =>
    h("a.fv-link", { href: fileAddress(row.trace), title: `freezer-ui ${row.trace}`, download: "" }, row.model);
  return new SweepView(content, data, {
    link,
    open: (/** @type {any} */ row) => row.trace && location.assign(fileAddress(row.trace)),
  });
}

globalThis.FreezerSweep = { mount };
