/* The layout's parts, joined here and in a worker alike.
 *
 * A page cannot read its own scripts, and a worker under its policy can load none: so each part is a function whose own
 * source text is all there is to it, and the worker is made from those texts. A part adds what it offers to `layout`,
 * and takes from it what the parts before it offer.
 */
(function (root) {
  "use strict";

  const parts = [];
  const layout = {};

  root.FreezerLayout = {
    layout,

    add(part) {
      parts.push(part);
      part(layout);
    },

    /** Source text of a worker that answers `{id, input}` with `{id, output}`. */
    workerSource: () =>
      `"use strict";const layout={};for(const part of [${parts.join(",")}])part(layout);onmessage=(event)=>{` +
      "const output=layout.run(event.data.input);" +
      "postMessage({id:event.data.id,output},Object.values(output).map((array)=>array.buffer));};",
  };
})(globalThis);
