"""Test sets that are made from the sentences of a small library."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.evaluation.making import TEXTS, checked, generated

from refdesk.desk import Desk
from refdesk.errors import InputError, NotFound
from refdesk.evaluation.generating.drafts import Draft, DraftFile
from refdesk.evaluation.generating.making import Wanted
from refdesk.evaluation.generating.surveying import survey

pytestmark = pytest.mark.anyio


async def test_a_survey_says_what_cannot_be_used_and_why(town: Desk) -> None:
    found = await survey(town, "default")
    reasons = dict(found.unusable)
    assert reasons["Tiny"] == "too short: 7 letters"
    assert {"Twin", "Tannrode"} & reasons.keys()
    assert "the same text as T" in (reasons.get("Twin", "") + reasons.get("Tannrode", ""))
    assert found.documents == 6 - ("Heads" in reasons)
    assert found.languages == ("de", "en")
    assert any("copies of this notice" in one for one in found.repeated)
    again = await survey(town, "default")
    assert [one.chunk_id for one in again.passages] == [one.chunk_id for one in found.passages]
    other = await survey(town, "default", seed=5)
    assert [one.chunk_id for one in other.passages] != [one.chunk_id for one in found.passages]


async def test_nothing_to_ask_about_is_an_error_with_reasons(town: Desk) -> None:
    await town.ingest_text("Nothing.", source_id="tiny", collection="small")
    with pytest.raises(InputError, match="tiny: too short"):
        await survey(town, "small")
    with pytest.raises(NotFound):
        await survey(town, "nowhere")


async def test_without_a_model_every_kind_is_made_of_sentences(town: Desk, tmp_path: Path) -> None:
    made = await generated(town, count=12)
    await checked(town, made, tmp_path / "own.yaml")
    by_kind = {kind: [one for one in made.kept if one.kind == kind] for kind in made.wanted.kinds}
    assert all(by_kind.values()), made.to_json()
    assert {one.language for one in by_kind["single"]} == {"de", "en"}
    assert any(
        one.question == "In which year was the Veltrane bridge opened to traffic?" for one in made.kept
    )
    for one in by_kind["multi"]:
        assert len({span.document for span in one.spans}) == 2
    for one in by_kind["unanswerable"]:
        assert (one.spans, one.answer, one.case().answerable) == ((), "", False)
    for one in by_kind["conversation"]:
        assert len(one.case().history) == 2
        assert one.question not in one.query.removesuffix(one.question)
    assert all(one.overlap <= 0.8 for one in made.kept)
    assert all(one.rank is not None for one in made.kept if one.spans)
    assert not any("copies of this notice" in one.question.casefold() for one in made.kept)


async def test_what_is_unanswerable_is_about_something_that_no_document_has(town: Desk) -> None:
    made = await generated(town, kinds=("unanswerable",), count=4)
    everything = "\n".join(TEXTS.values()).casefold()
    for one in made.kept:
        names = re.findall(r"\w+", one.question)
        assert any(word.casefold() not in everything for word in names), one.question


async def test_the_same_seed_gives_the_same_questions(town: Desk) -> None:
    first, second = [await generated(town, seed=3) for _ in range(2)]
    assert first.drafts == second.drafts


async def test_what_a_search_does_not_find_is_left_out(town: Desk) -> None:
    kept = await generated(town, kinds=("single",), count=30, round_trip=0)
    found = await generated(town, kinds=("single",), count=30, round_trip=1)
    assert len(kept.kept) >= len(found.kept)
    assert all(one.rank == 1 for one in found.kept)
    assert all(one.rank is None for one in kept.kept)


async def test_a_small_overlap_gives_harder_questions_or_none(town: Desk) -> None:
    easy = await generated(town, kinds=("single",), count=30, max_overlap=1.0)
    hard = await generated(town, kinds=("single",), count=30, max_overlap=0.4)
    assert max(one.overlap for one in easy.kept) > 0.4
    assert all(one.overlap <= 0.4 for one in hard.kept)


def test_quotas_are_divided() -> None:
    assert Wanted(count=5, kinds=("single", "multi")).quotas == {"single": 3, "multi": 2}
    for wrong in ({"kinds": ()}, {"kinds": ("magic",)}, {"count": 0}, {"max_overlap": 0.0}):
        with pytest.raises(InputError):
            Wanted(**wrong)


def test_a_draft_is_kept_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "drafts.jsonl"
    draft = Draft(key="conversation:a:b", kind="conversation", language="en", by="gap", question="And it?")
    draft = replace(draft, history=(("What?", "That."),), rank=3, overlap=0.25)
    file = DraftFile(path, {})
    file.add(draft)
    file.close()
    again = DraftFile(path, {})
    again.close()
    assert again.known == {draft.key: draft}
    assert draft.case().case_id == "conversation-a-b"
    assert draft.case().tags == ("conversation", "en", "by-gap", "medium")
