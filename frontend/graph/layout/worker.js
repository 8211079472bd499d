/* The layout in a worker: answers `{id, input}` with `{id, output}`, whose arrays it hands over. */

import { run } from "./run.js";

globalThis.onmessage = ({ data: { id, input } }) => {
  const output = run(input);
  postMessage({ id, output }, { transfer: Object.values(output).map((array) => array.buffer) });
};
