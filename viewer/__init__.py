"""What shows traces: view models, charts, the report, the command line; none of it needs torch."""
