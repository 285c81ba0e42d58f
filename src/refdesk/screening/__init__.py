"""Deterministic rules on what is asked, before anything is searched or any model is called.

- `rules`: what a `Rule` is, and a `Screening`
- `matching`: `screen` applies rules to a question
- `patterns`: patterns of rules to what RE2 matches in linear time
- `seeing`, `speaking`: a text as rules see it; the language that a finding is in
- `defaults`: the rules that apply where none are given
- `files`, `reading`: rules from YAML; `sets/`: those that come with refdesk, and their cases
- `cases`, `trying`: whether rules find what they should, and nothing else
"""

from refdesk.screening.cases import Case, case_sets, load_cases
from refdesk.screening.defaults import DEFAULT_RULES
from refdesk.screening.files import check_rules, load_rules, rule_sets
from refdesk.screening.matching import mistakes, screen
from refdesk.screening.rules import ACTIONS, Rule, Screening
from refdesk.screening.trying import Score, Trial, Tried, try_rules

__all__ = [
    "ACTIONS",
    "DEFAULT_RULES",
    "Case",
    "Rule",
    "Score",
    "Screening",
    "Trial",
    "Tried",
    "case_sets",
    "check_rules",
    "load_cases",
    "load_rules",
    "mistakes",
    "rule_sets",
    "screen",
    "try_rules",
]
