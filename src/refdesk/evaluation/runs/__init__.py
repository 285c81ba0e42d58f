"""Runs: every case asked, measured, judged and kept."""
