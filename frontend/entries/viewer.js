/* The viewer, as `FreezerViewer`: the program of a report and of a notebook's frame. docs/viewer-protocol.md */

import { joinPage } from "../notebook/frame.js";
import { increasing } from "../viewer/diff.js";
import { mount } from "../viewer/mount.js";
import { Pair } from "../viewer/pair.js";
import { lineText } from "../viewer/snapshots.js";
import { DEFAULTS } from "../viewer/state.js";
import { TraceModel } from "../viewer/trace_model.js";

globalThis.FreezerViewer = { mount, joinPage, DEFAULTS, TraceModel, Pair, lineText, increasing };
