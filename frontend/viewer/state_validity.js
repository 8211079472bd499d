/* What of a state a trace has: a link may name what is not there. */

import { COLOURINGS } from "./colouring.js";

/**
 * The choices of a state that a trace has; a default for any other.
 * @param {TraceModel} model
 * @param {Pick<State, "colour" | "line">} state
 * @returns {Pick<State, "colour" | "line">}
 */
export function validChoices(model, { colour, line }) {
  return {
    colour: Object.hasOwn(COLOURINGS, colour) ? colour : "change",
    line: model.hasLine(line) ? line : "",
  };
}

/**
 * The program and kernel of a state; the first program and no kernel where the trace lacks them.
 * @param {TraceModel} model
 * @param {Pick<State, "program" | "kernel">} state
 * @returns {Pick<State, "program" | "kernel">}
 */
export function validKernel(model, { program, kernel }) {
  const { programs } = model.view;
  const known = programs[program] ? program : 0;
  return { program: known, kernel: kernel !== null && programs[known]?.kernels[kernel] ? kernel : null };
}
