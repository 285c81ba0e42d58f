"""The answerer without a model: quotes, or says that it does not know."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from refdesk.answering import Answerer
from refdesk.answering.choosing import choose
from refdesk.answering.extractive import ExtractiveAnswerer
from refdesk.answering.ranking import Candidate, Ranking, SentenceRanker
from refdesk.answering.relevance import LETTERS, TOKENS, VECTORS
from refdesk.citations.leads import WEAK_LEAD
from refdesk.citations.sentences import Span
from refdesk.context import Answer, Evidence
from refdesk.documents import Document
from refdesk.embedding import Fingerprint, TokenVectors, Vectors
from refdesk.embedding.names import embedder_for
from refdesk.events import Done, Token
from refdesk.evidence import number_hits
from refdesk.testing.embedders import HashingEmbedder

pytestmark = pytest.mark.anyio
MakeEvidence = Callable[..., tuple[Evidence, ...]]


class VectorsOnly:
    """An embedder without token vectors, as an HTTP server is, that takes few tokens."""

    def __init__(self) -> None:
        self.inner = HashingEmbedder()
        self.max_tokens = 12

    @property
    def fingerprint(self) -> Fingerprint:
        return self.inner.fingerprint

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        assert all(self.count_tokens(text) <= self.max_tokens for text in texts)
        return await self.inner.embed_documents(texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self.inner.embed_queries(texts)


async def answer(question: str, evidence: Sequence[Evidence], answerer: Answerer | None = None) -> Answer:
    events = [
        event
        async for event in (answerer or ExtractiveAnswerer(HashingEmbedder())).stream(question, evidence)
    ]
    *tokens, done = events
    assert isinstance(done, Done)
    assert "".join(token.text for token in tokens if isinstance(token, Token)) == done.answer.text
    assert len(tokens) >= 1
    return done.answer


async def test_quotes_the_sentence_that_answers(
    evidence_of: MakeEvidence, documents: dict[str, Document]
) -> None:
    found = await answer(
        "How many days of annual leave do full-time employees get per year?",
        evidence_of("travel.md", "leave.md"),
    )
    assert found.text == "Full-time employees get 30 days of annual leave per year [1]."
    (only,) = found.citations
    assert only.quote == "Full-time employees get **30 days** of annual leave per year."
    assert documents["leave.md"].text[only.start : only.end] == only.quote
    assert (found.zone, found.refusal, found.model) == ("ok", None, "extractive")


async def test_abstains_on_another_topic(evidence_of: MakeEvidence) -> None:
    found = await answer("Which composer wrote the ninth symphony?", evidence_of("travel.md", "leave.md"))
    assert (found.zone, found.refusal, found.citations) == ("none", "below_threshold", ())
    assert "do not know" in found.text
    assert len(found.evidence) == 2


async def test_abstains_without_evidence() -> None:
    found = await answer("How much leave?", ())
    assert (found.zone, found.refusal) == ("none", "nothing_found")


async def test_text_without_sentences_is_below_the_threshold(evidence_of: MakeEvidence) -> None:
    (item,) = evidence_of("leave.md")
    empty = number_hits([replace(item.hit, chunk=replace(item.hit.chunk, text="---\n***"))])
    assert (await answer("How much leave?", empty)).refusal == "below_threshold"


async def test_a_question_in_a_document_hands_on_to_its_answer(evidence_of: MakeEvidence) -> None:
    found = await answer("How long is the probation period?", evidence_of("faq.md"))
    assert found.citations[0].quote == "Six months."
    assert "?" not in found.text


async def test_weak_support_is_said_first(evidence_of: MakeEvidence) -> None:
    ranker = SentenceRanker(HashingEmbedder())
    question = "Where must travel receipts be sent?"
    ranking = await ranker.rank(question, evidence_of("travel.md"))
    assert ranking.zone == "weak"
    found = await answer(question, evidence_of("travel.md"))
    assert found.zone == "weak"
    assert found.text.startswith(WEAK_LEAD)


async def test_repeated_sentences_are_quoted_once(evidence_of: MakeEvidence) -> None:
    found = await answer(
        "When are travel costs refunded, within how many weeks?", evidence_of("travel.md", "travel.md")
    )
    assert found.text.count("four weeks") == 1
    assert "[12]" not in found.text


async def test_embedders_without_token_vectors_serve_too(evidence_of: MakeEvidence) -> None:
    answerer = ExtractiveAnswerer(VectorsOnly())
    found = await answer(
        "How many days of annual leave do employees get per year?", evidence_of("leave.md"), answerer
    )
    assert found.citations[0].quote.startswith("Full-time employees")
    assert (
        await answer("Which composer wrote it?", evidence_of("leave.md"), answerer)
    ).refusal == "below_threshold"
    assert (await SentenceRanker(VectorsOnly()).rank("x", evidence_of("leave.md"))).scale is VECTORS
    assert (await SentenceRanker(HashingEmbedder()).rank("x", evidence_of("leave.md"))).scale is TOKENS


async def test_relevance_is_bounded_and_ordered(evidence_of: MakeEvidence) -> None:
    ranking = await SentenceRanker(HashingEmbedder()).rank(
        "How much annual leave?", evidence_of("leave.md", "faq.md")
    )
    relevances = [one.relevance for one in ranking.candidates]
    assert relevances == sorted(relevances, reverse=True)
    assert all(-1 <= relevance <= 1 for relevance in relevances)
    assert not np.isnan(relevances).any()


def test_reading_order_and_joining(evidence_of: MakeEvidence) -> None:
    leave, travel = evidence_of("leave.md", "travel.md")
    text = leave.hit.chunk.text
    second, third = text.index("The leave year"), text.index("Unused")
    first_end = second - 1
    candidates = (
        Candidate(leave, Span(second, third - 1), 0.80),
        Candidate(travel, Span(0, 20), 0.78),
        Candidate(leave, Span(text.index("Full"), first_end), 0.76),
        Candidate(leave, Span(third, third + 9), 0.75),
    )
    passages = choose(Ranking(candidates, TOKENS))
    assert [passage.item.number for passage in passages] == [1, 2]
    assert passages[0].quote.startswith("Full-time")
    assert passages[0].quote.endswith("in January.")


def test_one_clear_sentence_stands_alone(evidence_of: MakeEvidence) -> None:
    (leave,) = evidence_of("leave.md")
    candidates = (Candidate(leave, Span(0, 9), 0.9), Candidate(leave, Span(20, 40), 0.5))
    assert len(choose(Ranking(candidates, TOKENS))) == 1


class ReadsLatinOnly(HashingEmbedder):
    """Gives words in other scripts one and the same vector, as a model does that never learnt them."""

    async def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return await super().embed_tokens([re.sub(r"[^\W\d_A-Za-z]+", "буква", text) for text in texts])


async def test_a_script_that_the_embedder_cannot_read_goes_by_words(evidence_of: MakeEvidence) -> None:
    (item,) = evidence_of("leave.md")
    text = "Сотрудники получают тридцать дней отпуска в год. Заявление подают за две недели."
    evidence = number_hits([replace(item.hit, chunk=replace(item.hit.chunk, text=text))])
    answerer = ExtractiveAnswerer(ReadsLatinOnly())
    found = await answer("Сколько дней отпуска получают сотрудники?", evidence, answerer)
    assert found.citations[0].quote == "Сотрудники получают тридцать дней отпуска в год."
    assert (await answer("Кто написал девятую симфонию?", evidence, answerer)).refusal == "below_threshold"
    assert (await SentenceRanker(ReadsLatinOnly()).rank("Кто написал?", evidence)).scale is LETTERS
    assert (await SentenceRanker(HashingEmbedder()).rank("Кто написал?", evidence)).scale is TOKENS


@pytest.mark.model
async def test_with_the_real_model(evidence_of: MakeEvidence) -> None:
    answerer = ExtractiveAnswerer(embedder_for("minilm"))
    found = await answer(
        "How much vacation do I get if I work full time?", evidence_of("travel.md", "leave.md"), answerer
    )
    assert found.citations[0].quote == "Full-time employees get **30 days** of annual leave per year."
    off_topic = await answer(
        "Which composer wrote the ninth symphony?", evidence_of("travel.md", "leave.md"), answerer
    )
    assert off_topic.refusal == "below_threshold"
