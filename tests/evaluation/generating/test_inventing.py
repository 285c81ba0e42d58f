"""Test sets that a model makes from a small library."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.evaluation.making import checked, generated

from refdesk.desk import Desk
from refdesk.errors import LLMError
from refdesk.evaluation.generating.drafts import DraftFile
from refdesk.evaluation.generating.making import IN_VAIN, Generating, Wanted
from refdesk.evaluation.generating.surveying import survey
from refdesk.llm import Message
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


def writing(messages: tuple[Message, ...]) -> str:
    """Reply as a good model does, by what is asked for."""
    rubric, shown = messages[0].text, messages[-1].text
    if "Say whether the passages hold" in rubric:
        return json.dumps({"answered": "moon" not in shown and "both" not in shown})
    if "quote_1" in rubric:
        first, second = (sentence_of(part) for part in shown.split("Passage 2:"))
        question = "What do both tell of granite and pillars?"
        return json.dumps({"question": question, "answer": "granite", "quote_1": first, "quote_2": second})
    sentence = sentence_of(shown)
    answer = sentence.rstrip(".").split()[-1]
    if "first_question" in rubric:
        talk = {"first_question": f"What about {sentence.split()[1]} things?", "first_answer": "Yes."}
        return json.dumps(
            {**talk, "question": "And since when is that so?", "answer": answer, "quote": sentence}
        )
    if "detail that was never told" in rubric:
        return json.dumps({"question": f"Which moon is {sentence.split()[1]} under, number {len(shown)}?"})
    question = f"According to the passage, what is told of {' '.join(sentence.split()[1:3])}?"
    return json.dumps({"question": question, "answer": answer, "quote": sentence})


def sentence_of(shown: str) -> str:
    lines = [line.lstrip("> ") for line in shown.splitlines() if line.startswith(">")]
    return " ".join(lines).partition(". ")[0].rstrip(".") + "."


async def test_a_model_writes_and_its_quotes_are_held_against_the_text(town: Desk, tmp_path: Path) -> None:
    llm = ScriptedLLM([writing])
    made = await generated(town, llm, count=3, kinds=("single",), round_trip=0)
    await checked(town, made, tmp_path / "own.yaml")
    assert made.kept, made.to_json()
    assert all(one.by == "model" for one in made.kept)
    assert all(one.question.startswith("What is told of") for one in made.kept)
    assert made.usage.requests == len(llm.asked)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (
            {"question": "What is it of?", "answer": "1931", "quote": "The bridge of sighs."},
            "not in the passage",
        ),
        ({"question": "What is it about?", "answer": "1931", "quote": "bridge"}, "less than 3 words"),
        ({"question": "What?", "answer": "x", "quote": ""}, "less than 3 words"),
        ("no JSON at all", "could not be read"),
    ],
)
async def test_what_a_model_gets_wrong_is_left_out_with_the_reason(
    town: Desk, reply: dict[str, str] | str, told: str
) -> None:
    llm = ScriptedLLM([reply if isinstance(reply, str) else json.dumps(reply)])
    made = await generated(town, llm, kinds=("single",))
    assert made.kept == ()
    assert any(told in reason for reason in made.dropped)
    assert sum(made.dropped.values()) == len(made.survey.passages)


def quoting(question: str, answer: str) -> Callable[[tuple[Message, ...]], str]:
    return lambda messages: json.dumps(
        {"question": question, "answer": answer, "quote": sentence_of(messages[-1].text)}
    )


async def test_an_answer_has_to_be_in_the_quote(town: Desk) -> None:
    made = await generated(
        town, ScriptedLLM([quoting("When did all of it begin?", "purple hats")]), kinds=("single",)
    )
    assert "the quote does not hold the answer" in made.dropped


async def test_questions_that_are_copied_are_left_out(town: Desk) -> None:
    def copying(messages: tuple[Message, ...]) -> str:
        sentence = sentence_of(messages[-1].text)
        return json.dumps({"question": f"{sentence}?", "answer": sentence.split()[1], "quote": sentence})

    made = await generated(town, ScriptedLLM([copying]), kinds=("single",))
    assert "the question repeats too much of what answers it" in made.dropped
    assert made.kept == ()


async def test_two_passages_have_to_be_needed(town: Desk, tmp_path: Path) -> None:
    made = await generated(town, ScriptedLLM([writing]), kinds=("multi",), count=1, round_trip=0)
    await checked(town, made, tmp_path / "own.yaml")
    if made.kept:
        assert len(made.kept[0].spans) == 2

    def alone(messages: tuple[Message, ...]) -> str:
        reply = writing(messages)
        return '{"answered": true}' if "answered" in reply else reply

    spoilt = await generated(town, ScriptedLLM([alone]), kinds=("multi",), count=1, round_trip=0)
    assert spoilt.kept == ()


async def test_a_question_that_the_documents_answer_is_not_unanswerable(town: Desk) -> None:
    made = await generated(town, ScriptedLLM([writing]), kinds=("unanswerable",), count=2)
    assert len(made.kept) == 2
    assert all(not one.case().answerable for one in made.kept)

    def answered(messages: tuple[Message, ...]) -> str:
        reply = writing(messages)
        return '{"answered": true}' if "answered" in reply else reply

    spoilt = await generated(town, ScriptedLLM([answered]), kinds=("unanswerable",), count=2)
    assert spoilt.kept == ()
    assert "the documents answer it" in spoilt.dropped


async def test_the_example_is_no_question(town: Desk) -> None:
    llm = ScriptedLLM([lambda messages: messages[2].text])
    made = await generated(town, llm, kinds=("single", "unanswerable"))
    assert made.kept == ()
    assert "the model repeats the example" in made.dropped


async def test_a_follow_up_needs_the_turn_before(town: Desk, tmp_path: Path) -> None:
    made = await generated(town, ScriptedLLM([writing]), kinds=("conversation",), count=1, round_trip=0)
    await checked(town, made, tmp_path / "own.yaml")
    assert len(made.kept) == 1
    assert made.kept[0].case().history[0].role == "user"


async def test_a_budget_ends_it_and_says_so(town: Desk) -> None:
    llm = ScriptedLLM([writing])
    made = await generated(town, llm, kinds=("single",), count=30, max_requests=2)
    assert made.stopped == "2 requests were made; at most 2 may be."
    assert len(llm.asked) == 2


async def test_a_model_that_fails_again_and_again_is_asked_no_more(town: Desk) -> None:
    for number in range(IN_VAIN + 5):
        text = f"The ship number {number} of the fleet was lost at sea near Orrin."
        await town.ingest_text(text, source_id=f"ship {number}")
    reply = json.dumps({"question": "What was lost?", "answer": "it", "quote": "No such sentence."})
    llm = ScriptedLLM([reply])
    made = await generated(town, llm, kinds=("single", "unanswerable"), count=60)
    assert f"{IN_VAIN} drafts in a row were left out" in made.stopped
    assert sum(one.kind == "single" for one in made.drafts) == IN_VAIN
    assert any(one.kind == "unanswerable" for one in made.drafts)


async def test_what_was_made_is_not_made_again(town: Desk, tmp_path: Path) -> None:
    path, about = tmp_path / "own.drafts.jsonl", {"collection": "default"}
    found, wanted = await survey(town, "default"), Wanted(kinds=("single",), count=30, round_trip=0)
    file = DraftFile(path, about)

    def failing(messages: tuple[Message, ...]) -> str:
        if len(llm.asked) > 2:
            raise LLMError("The server is down.")
        return writing(messages)

    llm = ScriptedLLM([failing])
    work = Generating(desk=town, collection="default", survey=found, wanted=wanted, llm=llm)
    with pytest.raises(LLMError):
        await work.run(file.add)
    file.close()
    assert len(work.so_far().drafts) == 2
    again = DraftFile(path, about)
    fresh = ScriptedLLM([writing])
    second = Generating(
        desk=town, collection="default", survey=found, wanted=wanted, llm=fresh, known=again.known
    )
    made = await second.run(again.add)
    again.close()
    assert made.drafts[:2] == work.so_far().drafts
    whole = await Generating(
        desk=town, collection="default", survey=found, wanted=wanted, llm=ScriptedLLM([writing])
    ).run()
    assert made.drafts == whole.drafts
