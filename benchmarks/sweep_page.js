/* Measurements of a sweep's page: `sweepBench`. Times are in milliseconds. */
"use strict";

globalThis.sweepBench = (() => {
  const FRAMES = 120;
  const STEP = 90; // px per frame

  const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const first = new Promise((resolve) => {
    const look = () =>
      document.querySelectorAll(".fs-table .fs-row").length > 5
        ? resolve(painted().then(() => performance.now()))
        : setTimeout(look, 4);
    addEventListener("DOMContentLoaded", look);
  });

  const timed = async (act) => {
    const start = performance.now();
    act();
    await painted();
    return performance.now() - start;
  };

  const scroll = (list) =>
    new Promise((resolve) => {
      const durations = [];
      let last = performance.now();
      const tick = (now) => {
        durations.push(now - last);
        last = now;
        list.scrollTop += STEP;
        if (durations.length < FRAMES) return requestAnimationFrame(tick);
        durations.sort((a, b) => a - b);
        const sum = durations.reduce((total, one) => total + one, 0);
        resolve({ fps: (1000 * FRAMES) / sum, p95: durations[Math.floor(0.95 * FRAMES)] });
      };
      requestAnimationFrame(tick);
    });

  const all = async () => {
    const result = { first: await first };
    const list = document.querySelector(".fs-table .fv-virtual");
    result.rows = list.querySelectorAll(".fs-row").length;
    result.sort = await timed(() => document.querySelector("[role=columnheader] button").click());
    result.scroll = await scroll(list);
    const field = document.querySelector(".fs-controls input");
    result.search = await timed(() => {
      field.value = "net09";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    return result;
  };

  return { scroll, all };
})();
