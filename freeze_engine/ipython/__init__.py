"""IPython support: rich display of traces, and the cell magic that records."""
