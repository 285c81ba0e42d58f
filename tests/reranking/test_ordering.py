import pytest

from refdesk.reranking.ordering import hit_text, ordered
from refdesk.testing.rerankers import sample_hit


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
