/* The viewer's entrance: of one trace, of two, or of two backends. */

import { CrossBackendViewer } from "./cross_backend.js";
import { Viewer } from "./app.js";
import { ComparisonViewer } from "./comparison.js";

/**
 * Shows a trace in an element. docs/viewer-protocol.md describes data, options, state and events.
 * @param {HTMLElement} element filled with the application, also inside a shadow root that has viewer.css; give it a size
 * @param {any} data `view`, `graph`, `charts` and `options`; for two traces also `comparison`
 * @returns {Viewer}
 */
export function mount(element, data) {
  /** @type {any} */
  const Kind = !data.comparison ? Viewer : data.comparison.pairs.length ? CrossBackendViewer : ComparisonViewer;
  return new Kind(element, data);
}
