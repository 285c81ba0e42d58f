"""What zones do to answers, of a model and of quoted sentences."""

from collections.abc import Callable
from contextlib import aclosing

import pytest

from refdesk.answering import Answerer
from refdesk.answering.extractive import ExtractiveAnswerer
from refdesk.answering.generated import GeneratedAnswerer
from refdesk.answering.writing import ABSTENTION
from refdesk.citations.leads import WEAK_LEAD
from refdesk.context import Answer, Evidence, Zone
from refdesk.events import Done
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio
MakeEvidence = Callable[..., tuple[Evidence, ...]]
QUESTION = "How many days of annual leave do full-time employees get per year?"


async def answered(answerer: Answerer, evidence: tuple[Evidence, ...], zone: Zone) -> Answer:
    async with aclosing(answerer.stream(QUESTION, evidence, zone=zone)) as events:
        [done] = [event async for event in events if isinstance(event, Done)]
    return done.answer


async def prompt_in(zone: Zone, evidence: tuple[Evidence, ...]) -> str:
    llm = ScriptedLLM(["Thirty days [[1]]."])
    found = await answered(GeneratedAnswerer(llm=llm), evidence, zone)
    assert found.zone == zone
    return llm.asked[0][-1].text


async def test_each_zone_has_instructions_of_its_own(evidence_of: MakeEvidence) -> None:
    evidence = evidence_of("leave.md")
    zones: tuple[Zone, ...] = ("ok", "weak", "unknown")
    prompts = [await prompt_in(zone, evidence) for zone in zones]
    assert len(set(prompts)) == 3
    ok, weak, unknown = prompts
    assert "Answer it." in ok
    assert "say that it is partial" in weak
    assert ABSTENTION in weak
    assert ABSTENTION in unknown
    assert ABSTENTION not in ok


async def test_in_the_zone_none_no_model_is_asked(evidence_of: MakeEvidence) -> None:
    llm = ScriptedLLM(["Never said."])
    found = await answered(GeneratedAnswerer(llm=llm), evidence_of("leave.md"), "none")
    assert (found.refusal, found.zone, llm.asked) == ("below_threshold", "none", [])


@pytest.mark.parametrize(("zone", "expected"), [("ok", "ok"), ("unknown", "ok"), ("weak", "weak")])
async def test_quoted_sentences_are_no_surer_than_the_hits(
    evidence_of: MakeEvidence, zone: Zone, expected: Zone
) -> None:
    found = await answered(ExtractiveAnswerer(HashingEmbedder()), evidence_of("leave.md"), zone)
    assert found.zone == expected
    assert found.text.startswith(WEAK_LEAD) == (expected == "weak")
