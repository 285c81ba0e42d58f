import pytest

from refdesk.reranking.maxsim import MaxSimReranker
from refdesk.reranking.ordering import hit_text, ordered, rerank_first
from refdesk.testing import HashingEmbedder
from refdesk.testing.rerankers import QUESTION, sample_hit, sample_hits

LAST = "Days of leave: how many are granted?"


def test_equal_scores_are_ordered_by_source() -> None:
    hits = [sample_hit("x", source_id=name) for name in "cab"]
    ranked = ordered(hits, {hit.chunk.chunk_id: 0.5 for hit in hits})
    assert [(hit.source_id, hit.rank) for hit in ranked] == [("a", 1), ("b", 2), ("c", 3)]


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Leave", "Thirty days.", "Leave\nThirty days."),
        ("", "Thirty days.", "Thirty days."),
        ("Leave", "Leave is thirty days.", "Leave is thirty days."),
    ],
)
def test_a_title_is_read_where_the_text_lacks_it(title: str, text: str, expected: str) -> None:
    assert hit_text(sample_hit(text, source_id="a", title=title)) == expected


@pytest.mark.anyio
async def test_what_lies_deeper_stays_behind() -> None:
    hits = sample_hits(["Rivers run.", "Days of leave are granted.", "Mills turn.", LAST])
    ranked = await rerank_first(MaxSimReranker(HashingEmbedder()), QUESTION, hits, 2)
    assert [hit.source_id for hit in ranked] == ["2.txt", "1.txt", "3.txt", "4.txt"]
    assert [hit.rank for hit in ranked] == [1, 2, 3, 4]
    assert [hit.rerank_score is None for hit in ranked] == [False, False, True, True]
