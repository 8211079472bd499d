/* global dashboard, document, getComputedStyle, innerHeight, innerWidth */
/* What is wrong with the layout of a page, as texts; evaluated in the page by test_every_screen.py. */
(() => {
  const root = globalThis.viewer?.root ?? dashboard.root;
  const scope = root.getRootNode();
  const name = (element) => {
    const text = (element.getAttribute("aria-label") ?? element.textContent).trim().replace(/\s+/g, " ").slice(0, 40);
    return `${element.tagName.toLowerCase()}.${[...element.classList].join(".")} "${text}"`;
  };
  const shown = [...root.querySelectorAll("*")].filter(
    (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest("svg, canvas, .bk-Figure"),
  );
  const found = [];

  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) {
    const right = (element) => element.getBoundingClientRect().right;
    const widest = shown.reduce((one, other) => (right(other) > right(one) ? other : one));
    found.push(`the document is ${wide} px wider than the window: ${name(widest)}`);
  }

  // A text that its box cuts needs an ellipsis, a way to read it whole, and room for some of it.
  const LEAST = 56;
  for (const element of shown) {
    const style = getComputedStyle(element);
    const cuts = /hidden|clip/.test(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
    if (!cuts || element.clientWidth <= 1 || element.matches("input, textarea, [tabindex='0']")) continue;
    const isTold = style.textOverflow === "ellipsis" && element.closest("[title], [aria-label], [data-tip]");
    const isTooShort = isTold && element.clientWidth < LEAST;
    if ((!isTold || isTooShort) && element.textContent.trim()) {
      found.push(`cut: ${name(element)}, ${element.scrollWidth} in ${element.clientWidth} px`);
    }
  }
  // A row of tabs may scroll on a phone only, and then it fades out where there are more; elsewhere it wraps.
  for (const tabs of shown.filter((element) => element.matches("[role=tablist]"))) {
    const isFaded = root.dataset.size === "narrow" && tabs.parentElement.matches(".fv-more-before, .fv-more-after");
    const isMore = tabs.scrollWidth > tabs.clientWidth + 1;
    if (isMore && !isFaded) found.push(`tabs: ${tabs.scrollWidth} in ${tabs.clientWidth} px`);
  }

  // What can be pressed must be on top in its middle; what is scrolled away is not looked at.
  const visible = (element) => {
    let box = element.getBoundingClientRect();
    let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
    for (let up = element.parentElement; up; up = up.parentElement) {
      if (getComputedStyle(up).overflow === "visible") continue;
      box = up.getBoundingClientRect();
      [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
      [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
    }
    return {
      left: Math.max(0, left),
      top: Math.max(0, top),
      right: Math.min(innerWidth, right),
      bottom: Math.min(innerHeight, bottom),
    };
  };
  const pressable = shown.filter((element) => element.matches("button, a[href], input, select, summary"));
  for (const element of pressable) {
    const whole = element.getBoundingClientRect();
    const box = visible(element);
    const [x, y] = [(whole.left + whole.right) / 2, (whole.top + whole.bottom) / 2];
    if (whole.width <= 1 || x <= box.left || x >= box.right || y <= box.top || y >= box.bottom) continue;
    const top = scope.elementFromPoint(x, y);
    const isFree =
      !top ||
      top === element ||
      element.contains(top) ||
      top.contains(element) ||
      top.closest("label")?.contains(element);
    const isSticky =
      top &&
      [...root.querySelectorAll("*")].some((one) => one.contains(top) && getComputedStyle(one).position === "sticky");
    if (!isFree && !isSticky) found.push(`covered: ${name(element)} by ${name(top)}`);
  }

  const graph = globalThis.viewer?.panels.get("graph")?.view;
  if (graph?.overview.map && graph.panes.width() * graph.panes.sides().length > graph.overview.map.left) {
    found.push("the map stands over a pane");
  }
  return found;
})();
