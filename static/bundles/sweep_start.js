"use strict";
(() => {
  async function unpack(id) {
    const packed = document.getElementById(id).textContent;
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  }
  function add(tag, text) {
    const element = document.createElement(tag);
    element.textContent = text;
    document.head.append(element);
  }
  async function open() {
    const [program, style, text] = await Promise.all(["program", "style", "data"].map(unpack));
    add("style", style);
    add("script", program);
    const element = document.getElementById("viewer");
    element.replaceChildren();
    FreezerSweep.mount(element, JSON.parse(text));
  }
  open();
})();
