/* The graph view's colours, and the signs that are beside them: colour alone does not tell changes apart to everyone. */

/** @type {Record<string, string>} */
export const SIGNS = { removed: "\u2212", added: "+", changed: "~" };

// Each in the light theme and in the dark one.
const COLOURS = {
  page: ["#f6f7f9", "#11151c"],
  divider: ["#d5dae2", "#2b3441"],
  group: ["rgba(71,85,120,0.038)", "rgba(148,170,220,0.055)"],
  groupLine: ["#ccd3de", "#323d4d"],
  groupText: ["#46536a", "#a5b4c9"],
  label: ["rgba(246,247,249,0.92)", "rgba(17,21,28,0.9)"],
  box: ["#ffffff", "#1c232f"],
  line: ["#bcc5d3", "#414e61"],
  text: ["#172033", "#e9eef7"],
  soft: ["#5f6c82", "#98a6bb"],
  closed: ["#e9eef7", "#232d3d"],
  closedLine: ["#a9b6cb", "#536480"],
  pill: ["#e3e8f0", "#263040"],
  pillLine: ["#c3ccd9", "#45546a"],
  edge: ["#8e9bb0", "#5f6e86"],
  hub: ["#c3cbd8", "#39465a"],
  focus: ["#2563eb", "#6ea8ff"],
  match: ["#7c3aed", "#b794ff"],
  chip: ["#eef1f6", "#2a3443"],
  chipText: ["#4c5a70", "#a9b7cb"],
  panel: ["#ffffff", "#1a212c"],
  hover: ["#edf1f7", "#2a3444"],
};
// These differ in hue for every common kind of colour blindness, and in lightness.
const CHANGES = {
  removed: { fill: ["#fde7eb", "#3d1925"], line: ["#c2274b", "#ff6f8f"], text: ["#86112f", "#ffc0cd"] },
  added: { fill: ["#dcf1f4", "#0d3339"], line: ["#007d8c", "#4dd0e1"], text: ["#004c58", "#b5eef6"] },
  changed: { fill: ["#fff2c9", "#3a2c0a"], line: ["#a67200", "#f0b92f"], text: ["#634500", "#ffe3a0"] },
};

// Values, from none to the largest: one hue, so that lightness tells them apart to every eye.
const RAMP = [
  { fill: ["#f4f6fb", "#171d28"], text: ["#2a3650", "#c3cede"] },
  { fill: ["#dfe8f8", "#1e2c47"], text: ["#172033", "#e9eef7"] },
  { fill: ["#b9cdf0", "#28416e"], text: ["#172033", "#e9eef7"] },
  { fill: ["#86a8e2", "#355a99"], text: ["#10192b", "#ffffff"] },
  { fill: ["#3d68b5", "#7ba4e0"], text: ["#ffffff", "#0d1420"] },
  { fill: ["#183a78", "#c5dafa"], text: ["#ffffff", "#0d1420"] },
];
const UNKNOWN = { fill: ["#ffffff", "#161b24"], text: ["#5f6c82", "#98a6bb"] };
// Kinds of numbers; a box says its kind in words as well.
const KINDS = {
  f64: { fill: ["#e3d4f7", "#43295f"], text: ["#2e1650", "#eadcff"] },
  f32: { fill: ["#cfe3fb", "#173c66"], text: ["#0d2c50", "#d5e7ff"] },
  bf16: { fill: ["#c9ede3", "#0c4a3c"], text: ["#043b2f", "#c8f5e7"] },
  f16: { fill: ["#a5dbe0", "#0a545c"], text: ["#00363c", "#c9f4f8"] },
  i64: { fill: ["#fbe3a8", "#5a4406"], text: ["#4a3500", "#ffe9b0"] },
  quantised: { fill: ["#f9c9a6", "#6b3310"], text: ["#4f2100", "#ffdcc2"] },
  bool: { fill: ["#dfe2e7", "#3a424f"], text: ["#222b3a", "#e6ebf3"] },
  mixed: { fill: ["#efe6ee", "#3d3341"], text: ["#3a2b3b", "#eee0ef"] },
};

/** @param {number} at */
function themeOf(at) {
  const pick = (/** @type {Record<string, string[]>} */ table) =>
    Object.fromEntries(Object.entries(table).map(([name, colours]) => [name, colours[at]]));
  const changes = Object.entries(CHANGES).map(([status, table]) => [status, pick(table)]);
  const kinds = Object.entries(KINDS).map(([kind, table]) => [kind, pick(table)]);
  const values = { ramp: RAMP.map(pick), unknown: pick(UNKNOWN), kinds: Object.fromEntries(kinds) };
  return { ...pick(COLOURS), ...Object.fromEntries(changes), ...values };
}

/** @type {Record<string, any>} */
export const THEMES = { light: themeOf(0), dark: themeOf(1) };
