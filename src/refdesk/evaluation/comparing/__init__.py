"""Comparison of kept runs: differences with intervals and tests, verdicts, gates, noise."""
