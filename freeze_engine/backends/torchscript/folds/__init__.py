"""Which nodes each pass merged, which folds nearly happened, and which conditions failed."""
