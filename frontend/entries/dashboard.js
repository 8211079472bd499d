/* The dashboard and the viewer in it, as `FreezerDashboard`; dashboard/panel.js mounts it. */

import { mount } from "../dashboard/app.js";
import { toCommand } from "../dashboard/command.js";
import { toRow as inputRow, toText as inputText } from "../dashboard/input_text.js";

globalThis.FreezerDashboard = { mount, toCommand, inputRow, inputText };
