"""Random modules, and an oracle that verifies their recordings with torch, without the project's own logic."""
