"""A page that has the viewer in a shadow root, beside elements of its own."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from bokeh.resources import INLINE

from viewer.assets import read_asset
from viewer.report import PROGRAM

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>host</title>
<style>html, body {{ margin: 0; height: 100% }} body {{ display: flex; flex-direction: column }}
#host {{ flex: 1; min-height: 0 }} h2, button, dialog {{ color: rgb(1, 2, 3) }}</style></head>
<body><nav><input id="name" aria-label="Name"><button id="out">Out</button></nav><div id="host"></div>
<template id="data">{data}</template><template id="style">{style}</template><template id="bokeh">{bokeh}</template>
<script>{script}</script>
<script>
  const root = document.getElementById("host").attachShadow({{ mode: "open" }});
  const style = document.createElement("style");
  style.textContent = ":host > *, #viewer {{ height: 100% }}" + document.getElementById("style").content.textContent;
  const element = document.createElement("div");
  element.id = "viewer";
  root.append(style, element);
  globalThis.ran = [];
  const data = JSON.parse(document.getElementById("data").content.textContent);
  const loadBokeh = async () => {{
    if (!globalThis.Bokeh) {{
      const script = document.createElement("script");
      script.textContent = document.getElementById("bokeh").content.textContent;
      document.head.append(script);
    }}
    return Bokeh;
  }};
  globalThis.start = (options) => (globalThis.viewer = FreezerViewer.mount(element, {{ ...data, options: {{
    keys: "page", loadBokeh, ...options }} }}));
</script></body></html>"""


def host_page(data: dict[str, Any]) -> str:
    """Returns a page that can mount what ``data`` holds in a shadow root."""
    return PAGE.format(
        bokeh=escape("\n".join(INLINE.clone(components=["bokeh"]).js_raw)),
        data=json.dumps(data).replace("<", "\\u003c").replace("&", "\\u0026"),
        style=read_asset("viewer/viewer.css"),
        script=read_asset(PROGRAM),
    )
