/* Unpacks what the report carries and shows it. Packed: base64 of zlib, see viewer/report.py. */
"use strict";
(() => {
  async function unpack(id) {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }

  let bokeh = null;

  /** BokehJS is only unpacked when the charts are opened. */
  function loadBokeh() {
    bokeh ??= unpack("bokeh").then(
      (text) =>
        new Promise((resolve, reject) => {
          const script = document.createElement("script");
          script.src = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
          script.onload = () => resolve(globalThis.Bokeh);
          script.onerror = () => reject(new Error("BokehJS could not be loaded from this page"));
          document.head.append(script);
        }),
    );
    return bokeh;
  }

  async function open() {
    const element = document.getElementById("viewer");
    if (!("DecompressionStream" in globalThis)) {
      element.textContent = "This browser is too old to unpack the report (it lacks DecompressionStream): use one from 2023 or later.";
      return;
    }
    const data = JSON.parse(await unpack("trace"));
    element.replaceChildren();
    globalThis.viewer = FreezerViewer.mount(element, { ...data, options: { hash: true, loadBokeh } });
  }

  open();
})();
