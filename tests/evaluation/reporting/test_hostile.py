"""Nothing that documents, questions, models or files say becomes part of the page."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.evaluation.reporting.building import BAD, GOOD, a_run, answered, only

from refdesk.evaluation.reporting.markup import HIDDEN
from refdesk.evaluation.reporting.page import render
from refdesk.evaluation.runs.outcomes import Run

ATTACKS = {
    "script": "</script></style></title><script>alert(1)</script><img src=x onerror=alert(1)>",
    "attribute": '"\' onmouseover=alert(1) style=background:url(http://a.example) x="',
    "svg": "</text></svg><svg onload=alert(1)><foreignObject><iframe src=//a.example>",
    "comment": "<!-- ]]> <![CDATA[ --> <plaintext> <template>",
    "rtl": "\u202egnp.exe\u2066\u200f שלום \u202d",
    "nul": "a\0b\x1b[31m\x07\ud800\ufeff\u2028",
    "long": "x" * 10_000,
    "markdown": "[a](javascript:alert(1)) `<b>` $\\input{x}$ {{7*7}} %s {0}",
    "empty": "",
}
KEPT = {"needs", "status", "answerable", "data_digest"}
"""What is not text of others, or has to be the same for a comparison."""


def spoilt(value: Any, attack: str, name: str = "") -> Any:
    """Put an attack into every text of a run, in keys too; names stay distinct."""
    if isinstance(value, str):
        return value if name in ("role", "support") and attack == "" else value + attack
    if is_dataclass(value) and not isinstance(value, type):
        changes = {
            one.name: spoilt(getattr(value, one.name), attack, one.name)
            for one in fields(value)
            if one.name not in KEPT
        }
        return replace(value, **changes)
    if isinstance(value, Mapping):
        return {spoilt(key, attack): spoilt(one, attack) for key, one in value.items()}
    if isinstance(value, tuple):
        return tuple(spoilt(one, attack) for one in value)
    return value


def spoilt_run(run: Run, attack: str) -> Run:
    """Spoil a run, but leave the names of half of its measures, so that there is something to draw."""
    outcomes = {}
    for place, one in enumerate(run.outcomes.values()):
        made = spoilt(one, attack)
        kept = {**made.measures, **one.measures}
        outcomes[made.case_id] = replace(made, measures=kept, error=attack if place == 3 else "")
    found: Run = spoilt(run, attack)
    return replace(found, outcomes=outcomes)


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=list(ATTACKS))
def test_text_of_others_stays_text(attack: str) -> None:
    plain = [a_run("a", GOOD[:12], change=answered), a_run("b", BAD[:12], seed=1, change=answered)]
    html = render([spoilt_run(run, attack) for run in plain])
    page = LexborHTMLParser(html)
    own = {node.tag for node in LexborHTMLParser(render(plain)).css("*")}
    assert len(page.css("script")) == len(page.css("style")) == len(page.css("title[class], head title")) == 1
    assert {node.tag for node in page.css("*")} <= own | {"details", "summary", "small", "ul", "li", "h3"}
    for node in page.css("*"):
        for name, value in node.attributes.items():
            assert not name.startswith("on")
            assert name not in ("style", "src", "srcset")
            assert name != "href" or (value or "").startswith("#")
    assert not HIDDEN.search(html)
    assert html.encode()
    assert len(page.css("#changed-table > tbody")) + len(page.css("#cases-table > tbody")) == 12


def test_what_is_hostile_is_shown() -> None:
    run = spoilt_run(a_run("a", GOOD[:5], change=answered), ATTACKS["script"])
    page = LexborHTMLParser(render([run]))
    assert ATTACKS["script"] in only(page, "#case-1 .question").text()
    hidden = LexborHTMLParser(render([spoilt_run(run, "\u202e\0")]))
    assert "[U+202E][U+0000]" in only(hidden, "#case-1 .question").text()


def test_ten_thousand_characters_do_not_fill_the_page() -> None:
    run = spoilt_run(a_run("a", GOOD[:5], change=answered), ATTACKS["long"])
    page = LexborHTMLParser(render([run]))
    assert len(only(page, "#case-1 .figures .asked").text()) < 500
    assert "more characters" in only(page, "#case-1 .question").text()
