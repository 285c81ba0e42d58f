"""Text to tokens for keyword search, for every script; the same rules at index and at query time."""

from refdesk.analysis.analyser import ANALYSER_VERSION, analyse, analyse_query
from refdesk.analysis.languages import detect_language

__all__ = ["ANALYSER_VERSION", "analyse", "analyse_query", "detect_language"]
