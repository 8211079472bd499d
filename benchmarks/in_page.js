/* Measurements of the benchmarks inside a page: `bench`. Times are in milliseconds. */
"use strict";

globalThis.bench = (() => {
  const WALKED = 9;
  const FRAMES_MS = 2000;
  const PATIENCE_MS = 60_000;

  /** Resolves in the first task after the next frame is drawn. */
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

  const took = async (act) => {
    const start = performance.now();
    await act();
    return performance.now() - start;
  };

  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

  /** Frames per second while something changes on every frame. */
  const frames = (change) =>
    new Promise((resolve) => {
      const start = performance.now();
      let count = 0;
      const tick = (now) => {
        change(count++);
        if (now - start < FRAMES_MS) requestAnimationFrame(tick);
        else resolve((1000 * (count - 1)) / (now - start));
      };
      requestAnimationFrame(tick);
    });

  /**
   * Measures a graph view that shows a graph.
   * @param {Object} view of FreezerGraph
   * @param {Object} act actions of the page around it: `next()` goes to the next pass, `search(text)` searches; both
   *   may return a promise
   */
  async function graph(view, { next, search }) {
    const boxes = () => view.picture.scene.items.length - 1;
    const timed = (act) => took(async () => (await act(), await painted()));
    const walk = async () => {
      const times = [];
      for (let step = 0; step < WALKED; step++) times.push(await timed(next));
      return median(times);
    };
    const pan = (count) => {
      view.camera.y += (count % 120 < 60 ? 12 : -12) / view.camera.zoom;
      view.stage.redraw();
    };
    const result = { boxes: boxes(), next: await walk() };
    result.expand = await timed(() => view.groups.expandAll());
    result.open = boxes();
    result.nextOpen = await walk();
    result.search = await timed(() => search("relu"));
    await search("");
    Object.assign(view.camera, { x: view.picture.layout.width[0] / 2, y: view.picture.layout.height[0] / 2, zoom: 1 });
    result.pan = await frames(pan);
    result.zoom = await frames((count) => view.zoomBy(count % 120 < 60 ? 0.97 : 1 / 0.97));
    view.fit();
    await new Promise((resolve) => setTimeout(resolve, 400)); // the camera moves there
    result.whole = await frames(pan);
    return result;
  }

  /** Measures the graph view alone, starting from the text of its message. */
  async function bareGraph(text) {
    const view = FreezerGraph.create(document.getElementById("graph"), { theme: "light" });
    let after = 10;
    const first = await took(async () => {
      view.setData(JSON.parse(text));
      await view.show({ after });
      await painted();
    });
    const next = () => view.show({ after: (after += 1) });
    const result = await graph(view, { next, search: (words) => view.search(words) });
    globalThis.shownView = view; // what it holds is measured
    return { first, ...result };
  }

  /** Times of the page's request and of its parts, since 1970; `shown` resolves when all parts are painted. */
  const marks = { asked: Math.round(performance.timeOrigin) };
  const mark = (name) => (marks[name] = Date.now());
  let told;
  const shown = new Promise((resolve, reject) => {
    told = resolve;
    addEventListener("error", ({ message }) => reject(new Error(message)));
    setTimeout(() => reject(new Error(`not painted after ${PATIENCE_MS} ms: ${document.body.innerText}`)), PATIENCE_MS);
  });
  shown.catch(() => {}); // a caller that awaits it handles the error

  /** Resolves with the viewer that a function finds, as soon as there is one. */
  const viewerOf = (find) =>
    new Promise((resolve) => {
      const look = () => {
        const viewer = find();
        if (viewer) resolve(viewer);
        else setTimeout(look);
      };
      look();
    });

  /** Takes the time when the dashboard, and the viewer in it, is mounted and painted. */
  function watchDashboard(made) {
    const { mount } = made;
    made.mount = (...given) => {
      const dashboard = (bench.dashboard = mount(...given));
      painted().then(() => mark("first"));
      const both = [dashboard.channel.connected.then(() => mark("connected"))];
      if (dashboard.shown === "?") both.push(painted().then(() => mark("painted")));
      else both.push(viewer);
      Promise.all(both).then(() => told(marks));
      return dashboard;
    };
    const viewer = viewerOf(() => bench.dashboard?.page?.viewer).then(async (viewer) => {
      mark("loaded");
      viewer.navigate({ tab: "graph" }); // the page opens on the summary, and the graph is what takes time
      await viewer.panels.get("graph").turn;
      await painted();
      mark("painted");
    });
  }

  /** Measures the open trace, used as by a user: with the arrow key, and by typing into the search. */
  function dashboardGraph() {
    const { viewer } = bench.dashboard.page;
    const panel = viewer.panels.get("graph");
    const next = () => {
      viewer.root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, composed: true }));
      return panel.turn;
    };
    const search = (text) => {
      panel.search.text.value = text;
      panel.search.text.dispatchEvent(new Event("input", { bubbles: true }));
    };
    return graph(panel.view, { next, search });
  }

  let dashboard;
  Object.defineProperty(globalThis, "FreezerDashboard", {
    get: () => dashboard,
    set(made) {
      dashboard = made;
      watchDashboard(made);
    },
  });
  return { painted, took, bareGraph, dashboardGraph, marks, shown };
})();
