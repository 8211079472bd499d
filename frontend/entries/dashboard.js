/* The dashboard and the viewer in it, as `FreezerDashboard`; dashboard/panel.js mounts it. */

import { mount } from "../dashboard/app.js";
import { fromCommand, toCommand } from "../dashboard/command.js";
import { inputRow, inputText } from "../dashboard/inputs.js";

globalThis.FreezerDashboard = { mount, fromCommand, toCommand, inputRow, inputText };
