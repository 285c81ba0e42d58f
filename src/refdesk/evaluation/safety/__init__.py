"""Probes of what should be refused, and planted documents that should not be obeyed."""
