/* The graph view's way to make an element of the page. */
(function (root) {
  "use strict";

  function element(name, className, parent) {
    const made = document.createElement(name);
    made.className = className;
    parent.append(made);
    return made;
  }

  root.FreezerGraph = Object.assign(root.FreezerGraph, { element });
})(globalThis);
