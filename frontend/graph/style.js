/* The graph view's own style sheet: it is in a page, in a shadow root or in a frame, wherever it is put. */

export const STYLE = `
.fg { position: relative; width: 100%; height: 100%; min-height: 160px; overflow: hidden; outline: none; user-select: none;
  -webkit-user-select: none; touch-action: none; font: 12px/1.45 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif;
  color: var(--fg-text); background: var(--fg-page); }
.fg canvas { position: absolute; inset: 0; width: 100%; height: 100%; display: block; cursor: grab; }
.fg.fg-drag canvas { cursor: grabbing; }
.fg:focus-visible::after { content: ""; position: absolute; inset: 0; border: 2px solid var(--fg-focus); pointer-events: none; }
.fg-bar, .fg-legend, .fg-tip { position: absolute; background: var(--fg-panel); border: 1px solid var(--fg-line); border-radius: 8px;
  box-shadow: 0 2px 8px rgba(10, 15, 30, 0.12); }
.fg-bar { right: 10px; bottom: 10px; display: flex; padding: 3px; gap: 1px; }
.fg-bar button { all: unset; box-sizing: border-box; width: 28px; height: 26px; display: grid; place-items: center; border-radius: 5px;
  color: var(--fg-soft); cursor: pointer; }
.fg-bar button:hover { background: var(--fg-hover); color: var(--fg-text); }
.fg-bar button:focus-visible { outline: 2px solid var(--fg-focus); }
.fg-bar button[aria-pressed="true"] { background: var(--fg-hover); color: var(--fg-focus); }
.fg-bar svg { width: 16px; height: 16px; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
.fg-legend { left: 10px; bottom: 10px; padding: 4px 9px; max-width: min(46%, 100% - 236px); pointer-events: none; font-size: 11px; }
.fg-low .fg-legend, .fg-legend:empty { display: none; }
.fg-legend p { display: flex; flex-wrap: wrap; gap: 2px 10px; margin: 0; padding: 1px 0; }
.fg-legend span { display: inline-flex; align-items: center; gap: 5px; white-space: nowrap; color: var(--fg-soft); }
.fg-legend .fg-legend-title { color: var(--fg-text); }
.fg-legend .fg-legend-missing i { border-style: dashed; }
@media (max-width: 640px) { .fg-legend .fg-legend-between span { display: none; } }
.fg-legend .fg-legend-note { display: block; color: var(--fg-soft); max-width: 46em; }
.fg-legend i { width: 14px; height: 14px; border-radius: 4px; border: 1.5px solid; box-sizing: border-box; font: 700 11px/11px ui-sans-serif, system-ui, sans-serif;
  text-align: center; }
.fg-tip { z-index: 2; max-width: 420px; padding: 7px 10px; pointer-events: none; white-space: pre-wrap; overflow-wrap: anywhere; }
.fg-tip b { display: block; font-size: 13px; }
.fg-tip div { color: var(--fg-soft); font: 11px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.fg-tip[hidden] { display: none; }
.fg-live { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
`;
