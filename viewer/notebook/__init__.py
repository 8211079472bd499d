"""The notebook's face: a trace as a cell's output, and the handle by which Python sees and moves what it shows."""

from viewer.notebook.html_output import trace_html

__all__ = ["trace_html"]
