/* The passes that made, changed and removed nodes. */

import { changedFields } from "./snapshots.js";

/** @typedef {{ step: number, what: string }} NodeEvent */

export class NodeHistories {
  /** @param {TraceModel} model */
  constructor(model) {
    this.model = model;
    /** By method, then by id of the node. @type {Map<string, Map<string, NodeEvent[]>>} */
    this.found = new Map();
  }

  /**
   * The passes of a method that made, changed or removed a node, in order.
   * @param {string} method
   * @param {string} id
   */
  of(method, id) {
    const found = this.found.get(method) ?? this.build(method);
    this.found.set(method, found);
    return found.get(id) ?? [];
  }

  /** @param {string} method */
  build(method) {
    /** @type {Map<string, NodeEvent[]>} */
    const events = new Map();
    for (const steps of this.model.chains(method)) {
      let before = null;
      for (const step of steps) {
        const now = this.model.texts.rows(this.model.snapshot(step.index));
        if (before !== now) this.compare(before, now, step, events);
        before = now;
      }
    }
    return events;
  }

  /**
   * @param {any} before
   * @param {any} now
   * @param {ViewStep} step
   * @param {Map<string, NodeEvent[]>} events
   */
  compare(before, now, step, events) {
    for (const [id, row] of now) {
      const old = before?.get(id);
      if (old === row) continue;
      if (old === undefined) note(events, id, { step: step.index, what: before ? "added" : "there from the start" });
      else {
        const fields = changedFields(this.model.graphs.node(old), this.model.graphs.node(row));
        if (fields.length) note(events, id, { step: step.index, what: `${fields.join(", ")} changed` });
      }
    }
    if (before) {
      for (const id of before.keys()) if (!now.has(id)) note(events, id, { step: step.index, what: "removed" });
    }
  }
}

/**
 * @param {Map<string, NodeEvent[]>} events
 * @param {string} id
 * @param {NodeEvent} event
 */
function note(events, id, event) {
  const known = events.get(id);
  if (known) known.push(event);
  else events.set(id, [event]);
}
