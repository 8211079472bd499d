/* The trace of tests/builders.py as the page gets it; tests/unit/test_frontend_data.py keeps the file current. */

import { readFileSync } from "node:fs";

const TEXT = readFileSync(new URL("small_trace.json", import.meta.url), "utf8");

/** A copy of its own for each test: `view` of viewer.views.view_data, `graph` of viewer.views.graph_data.graph_data. */
export const smallTrace = () => JSON.parse(TEXT);
