"""Deterministic rules on what is asked, before anything is searched or any model is called.

- `rules`: `Rule`, `screen`, and the rules that apply where none are given
- `files`: rules from YAML
"""

from refdesk.screening.files import load_rules
from refdesk.screening.rules import DEFAULT_RULES, Rule, Screening, screen

__all__ = ["DEFAULT_RULES", "Rule", "Screening", "load_rules", "screen"]
