"""The benchmarks behind docs/benchmarks.md; ``python -m benchmarks`` runs the quick ones."""
