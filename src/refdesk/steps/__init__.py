"""The steps of pipelines, one file each, named as they are written in YAML."""

from refdesk.pipeline import Repeat, Step, When
from refdesk.steps.rewrite import Rewrite
from refdesk.steps.search import Search

BUILTIN: tuple[type[Step], ...] = (Rewrite, Search, When, Repeat)
"""All steps that come with refdesk, in the usual order."""

__all__ = ["BUILTIN", "Repeat", "Rewrite", "Search", "When"]
