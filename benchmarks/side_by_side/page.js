/* Measurements inside a page of any viewer: `sideBySide`. Times are in milliseconds. Nothing here needs `eval`. */
"use strict";

globalThis.sideBySide = (() => {
  /** Resolves in the first task after the next frame is drawn. */
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

  /** Resolves when a condition holds and what it means is painted. */
  const until = async (holds) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 4));
    await painted();
    await painted();
    return performance.now();
  };

  /** Collects the durations of frames until `stop` returns them. */
  const frames = () => {
    const durations = [];
    let last = performance.now();
    let going = true;
    const tick = (now) => {
      durations.push(now - last);
      last = now;
      if (going) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    return () => {
      going = false;
      return durations.slice(1);
    };
  };

  return { painted, until, frames };
})();
