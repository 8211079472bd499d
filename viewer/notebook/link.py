"""The widget model that connects a view's frames to the kernel; it has no view of its own."""

from __future__ import annotations

import anywidget
import traitlets

from viewer.assets import read_asset


class Link(anywidget.AnyWidget):
    """Carries a view's state between Python and every frame that shows the view.

    The front end runs the script when the model is created and again when a page is reloaded
    (``AnyModel.initialize``, anywidget 0.9.13 and later), and drops it with the kernel.
    """

    _esm = read_asset("bundles/notebook_link.js")

    view_id = traitlets.Unicode().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
