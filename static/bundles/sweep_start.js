"use strict";
(() => {
  function canUnpack(element) {
    if ("DecompressionStream" in globalThis) return true;
    element.textContent = "This browser is too old to unpack the page (it lacks DecompressionStream): use one from 2023 or later.";
    return false;
  }
  async function unpack(id) {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }
  function add(tag, text) {
    const element = document.createElement(tag);
    element.textContent = text;
    document.head.append(element);
  }
  async function open() {
    const element = document.getElementById("viewer");
    if (!canUnpack(element)) return;
    const [program, style, text] = await Promise.all(["program", "style", "data"].map(unpack));
    add("style", style);
    add("script", program);
    element.replaceChildren();
    FreezerSweep.mount(element, JSON.parse(text));
  }
  open();
})();
