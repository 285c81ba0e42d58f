"""Data sets: cases with gold in documents and spans, their readers, and where the gold is in a library."""
