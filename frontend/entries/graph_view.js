/* The graph view alone, as `FreezerGraph`; graph/view.js describes its methods and events. */

import { Model } from "../graph/data/model.js";
import { run } from "../graph/layout/run.js";
import { create } from "../graph/view.js";

globalThis.FreezerGraph = { create, Model, runLayout: run };
