/* The parts of a viewer's page, and how they are put together. */

import { AliasesPanel } from "./aliases_panel.js";
import { AttributesPanel } from "./attributes.js";
import { failureBanner, unmeasuredBanner } from "./banners.js";
import { ChartsPanel } from "./charts.js";
import { header } from "./chrome.js";
import { CodePanel } from "./code.js";
import { Details } from "./details.js";
import { fill, h } from "./dom.js";
import { EnvironmentPanel } from "./environment_panel.js";
import { FindingsPanel } from "./findings.js";
import { GraphPanel } from "./graph_panel.js";
import { IrPanel } from "./ir.js";
import { KernelsPanel } from "./kernels.js";
import { PassList } from "./passes.js";
import { Printed } from "./printed.js";
import { QuantisationPanel } from "./quantisation.js";
import { RewritesPanel } from "./rewrites_panel.js";
import { copySheet, keySheet } from "./sheet.js";
import { SourcePanel } from "./source_panel.js";
import { PassSummary } from "./summary.js";
import { SummaryPanel } from "./summary_panel.js";
import { Tabs } from "./tabs.js";
import { Terms } from "./terms.js";

/**
 * The classes of the parts of a trace's page; the panels are in the order of their tabs.
 * @returns {ViewerParts}
 */
export function traceParts() {
  const panels = [
    SummaryPanel,
    GraphPanel,
    SourcePanel,
    AttributesPanel,
    RewritesPanel,
    AliasesPanel,
    IrPanel,
    CodePanel,
    KernelsPanel,
    QuantisationPanel,
    ChartsPanel,
    FindingsPanel,
    EnvironmentPanel,
  ];
  return { Details, PassList, PassSummary, panels };
}

/**
 * Makes the parts of a viewer and puts them into its element; a part may use those that were made before it.
 * @param {Viewer} app
 */
export function assemble(app) {
  const parts = app.parts();
  app.terms = new Terms(app);
  app.details = new parts.Details(app);
  app.passes = new parts.PassList(app);
  const panels = parts.panels.filter((Panel) => Panel.isFor?.(app.model) ?? true);
  app.panels = new Map(panels.map((Panel) => new Panel(app)).map((panel) => [panel.id, panel]));
  app.tabs = new Tabs(app, [...app.panels.values()]);
  app.summary = new parts.PassSummary(app);
  app.printed = new Printed(app);
  app.toast = h("div.fv-toast", { role: "status", "aria-live": "polite" });
  app.sheet = keySheet({ ...parts.sheet, glossary: app.model.view.glossary, tour: app.options.tour });
  app.copySheet = copySheet();
  const content = h("div.fv-content", null, app.tabs.panes, app.details.element);
  const main = h("main.fv-main", null, app.tabs.element, app.summary.element, content);
  fill(
    app.root,
    header(app),
    failureBanner(app),
    unmeasuredBanner(app),
    h("div.fv-body", null, app.passes.element, main),
    app.sheet,
    app.copySheet.element,
    app.terms.element,
    app.toast,
    app.printed.element,
  );
}
