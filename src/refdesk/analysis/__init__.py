"""Text to tokens for keyword search, for every script; the same rules at index and at query time."""
