/* The kernels that compute a node. */

/**
 * The kernels that compute a node, or else those that come from it, by their places.
 * @param {Program[]} programs of the trace
 * @param {string} method
 * @param {string} id
 */
export function kernelsOf(programs, method, id) {
  return programs.flatMap(({ kernels, method: own }, program) => {
    if (own !== method) return [];
    const by = (/** @type {"nodes" | "origins"} */ field) =>
      kernels.flatMap((each, kernel) => (each[field].includes(id) ? [{ program, kernel }] : []));
    const computing = by("nodes");
    return computing.length ? computing : by("origins");
  });
}

/**
 * The reason why no kernel computes a node of the last graph, or null.
 * @param {Program[]} programs of the trace
 * @param {string} method
 * @param {string} id
 */
export function noKernel(programs, method, id) {
  const pairs = programs.flatMap((program) => (program.method === method ? program.no_kernel : []));
  return pairs.find(([node]) => node === id)?.[1] ?? null;
}
