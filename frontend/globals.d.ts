/** Text of the layout's worker: frontend/build.js defines it. */
declare const LAYOUT_WORKER: string;

/** BokehJS, where the page has it. */
declare var Bokeh: any;
/** The viewer of a report. */
declare var viewer: any;
interface Window {
  importShim: any;
}

/** The globals that the bundles make: frontend/entries/. */
declare var FreezerGraph: {
  create: typeof import("./graph/view.js").create;
  Model: typeof import("./graph/data/model.js").Model;
  runLayout: typeof import("./graph/layout/run.js").run;
};
declare var FreezerViewer: {
  mount: typeof import("./viewer/mount.js").mount;
  joinPage: typeof import("./notebook/frame.js").joinPage;
  DEFAULTS: typeof import("./viewer/state.js").DEFAULTS;
  TraceModel: typeof import("./viewer/trace_model.js").TraceModel;
  Pair: typeof import("./viewer/pair.js").Pair;
  lineText: typeof import("./viewer/snapshots.js").lineText;
  increasing: typeof import("./viewer/diff.js").increasing;
};
declare var FreezerSweep: { mount: (root: HTMLElement, data: any) => unknown };
declare var FreezerDashboard: {
  mount: typeof import("./dashboard/app.js").mount;
  toCommand: typeof import("./dashboard/command.js").toCommand;
  inputRow: typeof import("./dashboard/inputs.js").inputRow;
  inputText: typeof import("./dashboard/inputs.js").inputText;
};
