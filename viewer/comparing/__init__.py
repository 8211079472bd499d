"""Two traces held against each other, for a terminal and for CI; the page has `viewer.view_models.comparison`."""
