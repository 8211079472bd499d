"""Two traces held against each other, for a terminal and for CI; the page has `viewer.views.comparison.data`."""
