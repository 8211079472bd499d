"""Notebook output: a trace as a cell's output, and the handle by which Python reads and changes the view."""

from viewer.notebook.html_output import trace_html

__all__ = ["trace_html"]
