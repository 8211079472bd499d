/* Types that several rooms share: classes by the names that comments use, and elements. Messages: types.d.ts of each room. */

type Arrangements = import("./graph/arrangements.js").Arrangements;
type Camera = import("./graph/camera.js").Camera;
type Grid = import("./graph/layout/chains.js").Grid;
type Model = import("./graph/data/model.js").Model;
type Nets = import("./graph/layout/nets.js").Nets;
type Outline = import("./graph/data/outline.js").Outline;
type Picture = import("./graph/drawing/picture.js").Picture;
type Scene = import("./graph/data/scene.js").Scene;
type Snapshot = import("./graph/data/snapshot.js").Snapshot;
type Union = import("./graph/data/union.js").Union;
type GraphView = import("./graph/view.js").View;

type Details = import("./viewer/details.js").Details;
type Pair = import("./viewer/pair.js").Pair;
type TraceModel = import("./viewer/trace_model.js").TraceModel;
type ComparisonModel = import("./viewer/comparison_model.js").ComparisonModel;
type Viewer = import("./viewer/app.js").Viewer;
type ComparisonApp = Viewer & { model: ComparisonModel };
type State = import("./viewer/state.js").State;

type Dashboard = import("./dashboard/app.js").Dashboard;

type AttributeTree = import("./dashboard/tree.js").AttributeTree;
type CallTrial = import("./dashboard/trial.js").CallTrial;
type Channel = import("./dashboard/channel.js").Channel;
type ComparePage = import("./dashboard/trace.js").ComparePage;
type Drop = import("./dashboard/drop.js").Drop;
type FolderList = import("./dashboard/files.js").FolderList;
type FolderPage = import("./dashboard/folder.js").FolderPage;
type FormPage = import("./dashboard/form.js").FormPage;
type HomePage = import("./dashboard/home.js").HomePage;
type InputRows = import("./dashboard/inputs.js").InputRows;
type JobPage = import("./dashboard/job.js").JobPage;
type JobSteps = import("./dashboard/job_steps.js").JobSteps;
type Keyboard = import("./dashboard/keyboard.js").Keyboard;
type KeyedList = import("./dashboard/pieces.js").KeyedList;
type MeasureFields = import("./dashboard/measuring.js").MeasureFields;
type Messages = import("./dashboard/messages.js").Messages;
type ModelPart = import("./dashboard/model_part.js").ModelPart;
type OptionFields = import("./dashboard/option_fields.js").OptionFields;
type RecentTraces = import("./dashboard/recent_traces.js").RecentTraces;
type RowControls = import("./dashboard/input_row.js").RowControls;
type SweepPage = import("./dashboard/sweep.js").SweepPage;
type Tour = import("./dashboard/tour.js").Tour;
type TracePage = import("./dashboard/trace.js").TracePage;

type Groups = import("./graph/groups.js").Groups;
type Keyboard = import("./graph/keyboard.js").Keyboard;
type LayoutRunner = import("./graph/layout/runner.js").LayoutRunner;
type Legend = import("./graph/legend.js").Legend;
type Overview = import("./graph/overview.js").Overview;
type Panes = import("./graph/panes.js").Panes;
type PatternError = import("./graph/data/pattern_syntax.js").PatternError;
type Pointer = import("./graph/pointer.js").Pointer;
type RowIndex = import("./graph/drawing/row_index.js").RowIndex;
type Search = import("./graph/search.js").Search;
type Selection = import("./graph/selection.js").Selection;
type Stage = import("./graph/stage.js").Stage;
type SvgSurface = import("./graph/drawing/svg_surface.js").SvgSurface;
type TextIndex = import("./graph/data/text_index.js").TextIndex;
type Toolbar = import("./graph/toolbar.js").Toolbar;
type Tooltip = import("./graph/tooltip.js").Tooltip;
type View = import("./graph/view.js").View;

type SweepView = import("./sweep/view.js").SweepView;

type AliasesPanel = import("./viewer/aliases_panel.js").AliasesPanel;
type AttributeDetails = import("./viewer/attribute_details.js").AttributeDetails;
type AttributesPanel = import("./viewer/attributes.js").AttributesPanel;
type ChartsPanel = import("./viewer/charts.js").ChartsPanel;
type CodePanel = import("./viewer/code.js").CodePanel;
type ComparisonAliasesPanel = import("./viewer/comparison_panels.js").ComparisonAliasesPanel;
type ComparisonAttributesPanel = import("./viewer/comparison_attributes.js").ComparisonAttributesPanel;
type ComparisonChartsPanel = import("./viewer/comparison_panels.js").ComparisonChartsPanel;
type ComparisonDetails = import("./viewer/comparison_panels.js").ComparisonDetails;
type ComparisonEnvironmentPanel = import("./viewer/comparison_environment.js").ComparisonEnvironmentPanel;
type ComparisonFindingsPanel = import("./viewer/comparison_findings.js").ComparisonFindingsPanel;
type ComparisonGraphPanel = import("./viewer/comparison_panels.js").ComparisonGraphPanel;
type ComparisonKernelsPanel = import("./viewer/comparison_kernels.js").ComparisonKernelsPanel;
type ComparisonPassList = import("./viewer/comparison_passes.js").ComparisonPassList;
type ComparisonRewritesPanel = import("./viewer/comparison_panels.js").ComparisonRewritesPanel;
type ComparisonSummary = import("./viewer/comparison_pass_summary.js").ComparisonSummary;
type ComparisonSummaryPanel = import("./viewer/comparison_summary.js").ComparisonSummaryPanel;
type ComparisonViewer = import("./viewer/comparison.js").ComparisonViewer;
type CrossBackendViewer = import("./viewer/cross_backend.js").CrossBackendViewer;
type DetailsLinks = import("./viewer/details_links.js").DetailsLinks;
type EnvironmentPanel = import("./viewer/environment_panel.js").EnvironmentPanel;
type FindingsPanel = import("./viewer/findings.js").FindingsPanel;
type GraphPanel = import("./viewer/graph_panel.js").GraphPanel;
type GraphSearch = import("./viewer/graph_search.js").GraphSearch;
type IrPanel = import("./viewer/ir.js").IrPanel;
type KernelsPanel = import("./viewer/kernels.js").KernelsPanel;
type Keyboard = import("./viewer/keyboard.js").Keyboard;
type NodeHistories = import("./viewer/node_histories.js").NodeHistories;
type PassFrame = import("./viewer/pass_frame.js").PassFrame;
type PassList = import("./viewer/passes.js").PassList;
type PassSummary = import("./viewer/summary.js").PassSummary;
type Printed = import("./viewer/printed.js").Printed;
type QuantisationPanel = import("./viewer/quantisation.js").QuantisationPanel;
type RewritesPanel = import("./viewer/rewrites_panel.js").RewritesPanel;
type Snapshots = import("./viewer/snapshots.js").Snapshots;
type SourceGraph = import("./viewer/source_graph.js").SourceGraph;
type SourceLinks = import("./viewer/source_links.js").SourceLinks;
type SourceListing = import("./viewer/source_listing.js").SourceListing;
type SourcePanel = import("./viewer/source_panel.js").SourcePanel;
type SourcePlaces = import("./viewer/source_places.js").SourcePlaces;
type SummaryPanel = import("./viewer/summary_panel.js").SummaryPanel;
type Tabs = import("./viewer/tabs.js").Tabs;
type Terms = import("./viewer/terms.js").Terms;
type VirtualList = import("./viewer/dom.js").VirtualList;

// ---- elements

/** The element that `h("button.link")` makes. */
type ElementOf<Tag extends string> = Tag extends `${infer Name}.${string}` ? ElementNamed<Name> : ElementNamed<Tag>;
type ElementNamed<Name extends string> = Name extends keyof HTMLElementTagNameMap
  ? HTMLElementTagNameMap[Name]
  : HTMLElement;
/** Contents of an element; texts never become markup. */
type Child = Node | string | number | boolean | null | undefined | readonly Child[];
/** An event of an element: what it comes from is as its listener knows it to be. */
type HeardEvent<Name extends keyof GlobalEventHandlersEventMap> = GlobalEventHandlersEventMap[Name] & { target: any };
type Props = {
  [Name in keyof GlobalEventHandlersEventMap as `on${Name}`]?: ((event: HeardEvent<Name>) => unknown) | null;
} & {
  [name: string]: any;
};
