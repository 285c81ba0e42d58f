"""The ways that a question can take: pipelines in which a model reads documents, and what each may cost."""

from dataclasses import dataclass

from refdesk.pipeline import Pipeline, Step
from refdesk.steps import (
    Answer,
    Cite,
    Condense,
    Decompose,
    Distill,
    Expand,
    Gate,
    Ground,
    Reason,
    Recall,
    Remember,
    Rerank,
    Review,
    Rewrite,
    Search,
    Select,
)


@dataclass(frozen=True, slots=True)
class Channel:
    """`requests` and `searches` are the most that the pipeline's own options allow for one question."""

    steps: tuple[Step, ...]
    requests: int = 1
    searches: int = 1
    collections: tuple[str, ...] = ("public",)
    says: str = "Employees get 30 days of leave"
    talks: bool = False
    """Whether the document was read in an earlier question of the same conversation."""
    quotes: bool = False
    """Whether no model is asked."""

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(self.steps)


_ROUTE = (
    Recall(),
    Condense(),
    Gate(),
    Select(collections=("public", "open")),
    Decompose(most=3),
    Expand(),
    Search(),
    Answer(),
    Remember(),
)
_TEMPLATE = "Answer from this alone.\n{hits}\n\n{question}"
CHANNELS = {
    "answer": Channel((Search(), Answer(), Cite())),
    "ground": Channel((Search(), Answer(), Cite(), Ground())),
    "judge": Channel((Search(), Answer(), Ground(grounder="judge")), requests=3),
    "review": Channel((Search(), Answer(), Review(rules="Be kind."), Cite()), requests=3),
    "self-correct": Channel((Search(), Answer(self_correct=True, max_corrections=1), Cite()), requests=6),
    "distill": Channel((Search(), Distill(), Answer(), Cite()), requests=2),
    "rewrite": Channel((Search(), Rewrite(after_retrieval=True), Search(), Answer()), requests=2, searches=2),
    "reason": Channel((Search(), Reason(max_iterations=2), Answer()), requests=5, searches=3),
    "rerank": Channel((Search(), Rerank(reranker="llm"), Answer()), requests=3),
    "route": Channel(_ROUTE, requests=9, searches=6, collections=("public", "open"), talks=True),
    "conversation": Channel((Recall(), Search(), Answer(), Remember()), talks=True),
    "template": Channel((Search(), Answer(prompt=_TEMPLATE), Cite())),
    "abstention": Channel((Search(), Answer()), says="The documents do not answer this"),
    "quotation": Channel((Search(), Answer(), Cite(), Ground()), requests=0, quotes=True),
}
