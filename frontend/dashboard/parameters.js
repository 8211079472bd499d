/* Assigns inputs to the parameters of the model. */

import { h } from "../viewer/dom.js";

/**
 * Finds the parameter of each row, and sorts the rows: those of parameters in the order of the signature, then the rest.
 * A row keeps the parameter that it has, if the model has it, too; else it keeps the name by which it was passed (`named`).
 * @param {InputRow[]} rows
 * @param {ModelParameter[]} parameters
 * @returns {InputRow[]}
 */
export function assigned(rows, parameters) {
  /** @type {Map<ModelParameter, InputRow>} */
  const taken = new Map();
  const named = (/** @type {string} */ name) =>
    parameters.find((parameter) => parameter.name === name && !taken.has(parameter)) ?? null;
  const give = (/** @type {InputRow} */ row, /** @type {ModelParameter | null} */ parameter) => {
    if (row.parameter && !parameter) row.fields.keyword = row.named ?? "";
    row.parameter = parameter;
    if (!parameter) return;
    taken.set(parameter, row);
    row.fields.keyword = "";
  };
  for (const row of rows) give(row, named(row.parameter?.name ?? row.fields.keyword.trim()));
  for (const row of rows) {
    if (row.parameter || row.fields.keyword.trim()) continue;
    give(row, parameters.find((parameter) => !parameter.is_keyword && !taken.has(parameter)) ?? null);
  }
  const known = parameters.flatMap((parameter) => taken.get(parameter) ?? []);
  return [...known, ...rows.filter((row) => !row.parameter)];
}

/**
 * The prefix of each row's text: empty where it is positional, else the parameter's name. A parameter is
 * passed by its name if one before it has no row.
 * @param {InputRow[]} rows
 * @param {ModelParameter[]} parameters
 * @returns {string[]}
 */
export function prefixes(rows, parameters) {
  const given = new Set(rows.map((row) => row.parameter));
  const gap = parameters.findIndex((parameter) => !given.has(parameter));
  const positional = gap < 0 ? parameters : parameters.slice(0, gap);
  return rows.map(({ parameter }) =>
    !parameter || (positional.includes(parameter) && !parameter.is_keyword) ? "" : `${parameter.name}=`,
  );
}

/**
 * The origin of a row's text, as long as it is the suggested one.
 * @param {InputRow} row
 */
export function parameterWords(row) {
  if (row.touched || !row.suggested) return null;
  return h("span.fd-guess.fv-muted", null, row.parameter?.note);
}

/**
 * Name and type of a parameter, and whether a call needs it.
 * @param {ModelParameter} parameter
 */
export function parameterTitle(parameter) {
  const required = parameter.is_required && h("span.fv-badge.fd-required", null, "required");
  return h(
    "div.fd-parameter",
    null,
    h("strong", null, parameter.name),
    parameter.type && h("code.fv-muted", null, parameter.type),
    required || h("span.fv-muted", null, `optional, ${parameter.default} by default`),
  );
}
