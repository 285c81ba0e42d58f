"""Deterministic rules on what is asked, before anything is searched or any model is called.

- `rules`: what a `Rule` is, and a `Screening`
- `matching`: `screen` applies rules to a question
- `defaults`: the rules that apply where none are given
- `seeing`: a text as rules see it
- `files`: rules from YAML
"""

from refdesk.screening.defaults import DEFAULT_RULES
from refdesk.screening.files import load_rules
from refdesk.screening.matching import mistakes, screen
from refdesk.screening.rules import ACTIONS, Rule, Screening

__all__ = ["ACTIONS", "DEFAULT_RULES", "Rule", "Screening", "load_rules", "mistakes", "screen"]
