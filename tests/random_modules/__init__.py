"""Random modules, and an oracle that holds their recordings against torch without the project's own logic."""
