"""The page is one file that fetches nothing, can be read without a script, and hides nothing."""

import base64
import hashlib
from dataclasses import replace

import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.evaluation.reporting.building import BAD, GOOD, a_run, answered, only

from refdesk.evaluation.datasets.cases import Gold, Need
from refdesk.evaluation.reporting.details import of_run
from refdesk.evaluation.reporting.page import render
from refdesk.evaluation.runs.outcomes import CaseOutcome, Channel, Run

ONE = (a_run("good", GOOD, change=answered),)
TWO = (*ONE, a_run("bad", BAD, seed=1, change=answered, settings={"top_k": 9}))
THREE = (*TWO, a_run("better", GOOD, seed=2, change=answered))


def parsed(runs: tuple[Run, ...], most: int = 1000) -> LexborHTMLParser:
    return LexborHTMLParser(render(runs, most=most))


def said(page: LexborHTMLParser, selector: str) -> str:
    return only(page, selector).text()


@pytest.mark.parametrize("runs", [ONE, TWO, THREE])
def test_nothing_is_fetched_and_nothing_else_runs(runs: tuple[Run, ...]) -> None:
    page = parsed(runs)
    for node in page.css("*"):
        names = set(node.attributes)
        assert not names & {"src", "srcset", "style", "action", "data", "background", "xlink:href"}, node.tag
        assert not any(name.startswith("on") for name in names), node.tag
        assert (node.attributes.get("href") or "#").startswith("#")
    assert not page.css("link, img, iframe, object, embed, base")
    policy = only(page, "meta[http-equiv]").attributes["content"] or ""
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(only(page, tag).text().encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "@import" not in said(page, "style")
    assert "url(" not in said(page, "style")


@pytest.mark.parametrize("runs", [ONE, TWO, THREE])
def test_it_can_be_read_by_ear_and_by_keyboard(runs: tuple[Run, ...]) -> None:
    page = parsed(runs)
    assert only(page, "html").attributes["lang"] == "en"
    ids = [node.attributes["id"] for node in page.css("[id]")]
    assert len(ids) == len(set(ids))
    for link in page.css("nav a"):
        assert (link.attributes["href"] or "")[1:] in ids
    for svg in page.css("svg"):
        assert svg.attributes["role"] == "img"
        assert svg.attributes["aria-label"]
    for head in page.css("th"):
        assert head.attributes.get("scope") in ("col", "row", "colgroup")
    for control in page.css("form input, form select"):
        assert control.parent is not None
        assert control.parent.tag == "label"


def test_every_picture_has_its_figures_in_a_table() -> None:
    for section in parsed(TWO).css("section"):
        assert only(section, f"#{section.attributes['aria-labelledby']}").tag == "h2"
        assert bool(section.css("table")) or not section.css("svg"), section.attributes["id"]


def test_every_row_is_as_wide_as_its_head() -> None:
    for table in parsed(TWO).css("table"):
        widths = {
            sum(int(cell.attributes.get("colspan") or 1) for cell in row.css("th, td") if cell.parent == row)
            for row in table.css("tr")
            if row.parent is not None and row.parent.parent == table
        }
        assert len(widths) == 1, table.text()[:80]


def test_what_is_shown_of_one_run() -> None:
    page = parsed(ONE)
    anchors = [node.attributes["href"] for node in page.css("nav a")]
    assert anchors == ["#overview", "#measures", "#tags", "#latency", "#abstention", "#risk", "#cases"]
    assert "40 of 40" in said(page, "#overview")
    assert "- search" in said(page, "#overview")
    assert len(page.css("#cases-table > tbody")) == 40
    second = only(page, "#case-1")
    assert "user: Tell me." in second.text()
    assert [one.text() for one in second.css(".gold")] == ["★ gold"] * 4
    signs = [one.text() for one in second.css(".support")]
    assert signs == [
        "✓ supported",
        "◐ partial",
        "✗ unsupported",
        "⚡ contradicted",
        "? unchecked",
        "✓ supported",
    ]
    assert "It says what is expected." in second.text()
    assert "search  12 ms" in second.text()
    assert second.attributes["data-state"] == "right"
    assert only(page, "#case-4").attributes["data-tag"] == "t0"


def test_what_is_missing_is_said_at_the_top() -> None:
    def failing(outcome: CaseOutcome) -> CaseOutcome:
        error = "it broke" if outcome.case_id == "q3" else ""
        return replace(outcome, error=error, warnings=("odd text",))

    run = a_run("a", GOOD, change=failing, status="crashed")
    run = replace(run, header=replace(run.header, cases=45), error="The machine stopped.")
    page = parsed((run,))
    notes = " ".join(node.text() for node in page.css("#overview .note"))
    assert "a is crashed: The machine stopped." in notes
    assert "5 of 45 cases were not asked" in notes
    assert "1 of 40 cases failed; no figure counts them" in notes
    assert "it broke" in notes
    assert "odd text (40)" in notes
    assert "no reference answer is known" in said(page, "#left-out")


def test_two_runs_are_compared() -> None:
    page = parsed(TWO)
    assert "bad is worse than good" in said(page, "#differences .verdict")
    assert page.css("#differences circle.gap.worse")
    assert "settings: top_k ≠" in said(page, "#overview")
    first = page.css("#changed-table > tbody")[0]
    assert first.attributes["data-state"] == "right wrong"
    assert len(first.css(".run")) == 2
    changed, others = page.css("#changed-table > tbody"), page.css("#cases-table > tbody")
    assert len(changed) + len(others) == 40
    turned = [one.attributes["data-state"] == "right wrong" for one in changed]
    assert turned == sorted(turned, reverse=True)


def test_the_same_run_again_is_no_evidence() -> None:
    again = a_run("again", GOOD, seed=9, change=answered)
    page = parsed((*ONE, again))
    assert "again cannot be told apart by these cases from good" in said(page, "#differences .verdict")
    assert not page.css("#changed")


def test_three_runs_are_a_trend() -> None:
    page = parsed(THREE)
    assert not page.css("#differences")
    row = next(one for one in page.css("#trend tbody tr") if one.text().startswith("reranked.nDCG@10"))
    assert len(row.css("svg circle")) == 3
    assert [one.attributes["title"] for one in row.css(".state")] == ["worse", "no evidence"]


def test_runs_on_other_data_are_not_compared() -> None:
    page = parsed((*ONE, a_run("other", GOOD, data_digest="d2")))
    assert not page.css("#differences")
    assert "These runs are of different data" in said(page, "#overview")


def test_a_run_that_asked_nothing() -> None:
    run = replace(a_run("a", GOOD, status="interrupted"), outcomes={})
    page = parsed((run,))
    assert "40 of 40 cases were not asked" in said(page, "#overview")
    assert not page.css("#cases")
    assert not parsed((run, *ONE)).css("#differences")


def test_cases_beyond_the_limit_are_counted() -> None:
    page = parsed(ONE, most=7)
    assert len(page.css("#cases-table > tbody")) == 7
    assert "33 more cases are left out here" in said(page, "#cases")
    both = parsed(TWO, most=3)
    assert len(both.css("#changed-table > tbody")) == 3
    assert "more cases are left out" in said(both, "#changed")
    assert "more cases are left out" in said(both, "#cases")


def test_small_tags_are_grey_and_signs_are_not_only_colours() -> None:
    page = parsed((a_run("a", GOOD[:12]),))
    rows = {one.css("th")[0].text(): one for one in page.css("#tags tbody tr")}
    assert rows["hard"].css(".few")
    assert not rows["hard"].css(".heat")
    for state in page.css(".state"):
        assert state.text()


@pytest.mark.parametrize(("met", "told"), [(4, "met by chunk 4"), (None, "met by no chunk")])
def test_a_quote_without_a_place_says_which_chunk_meets_it(met: int | None, told: str) -> None:
    needs = (Need(alternatives=(Gold(document="gold", quote="It is said."),)),)
    one = CaseOutcome(
        case_id="q",
        question="What?",
        needs=needs,
        channels=(Channel(name="fused", documents=("x", "gold"), ranks=(met,), seconds=0.1),),
    )
    shown = LexborHTMLParser(str(of_run(one, "right", "a")))
    assert f"2 {told}" in shown.text()
