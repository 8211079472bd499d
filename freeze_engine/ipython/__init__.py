"""How traces show themselves in IPython, and the cell magic that records."""
