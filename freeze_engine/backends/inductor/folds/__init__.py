"""Which nodes merged into which, why others did not, and which fold lost precision."""
