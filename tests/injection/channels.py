"""The ways that a question can take: pipelines in which a model reads documents, and what each may cost."""

from collections.abc import Callable
from dataclasses import dataclass

import refdesk
from refdesk.llm import LLM, Calling
from refdesk.loop.builtin import DEFAULT_TOOLS
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
    Loop,
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
    calls: Calling | None = None
    """How the model calls tools, where it does."""
    ends: bool = True
    """Whether there is a tool that ends the loop; where not, the code reads calls in the model's words."""
    loop: Callable[[LLM], Loop] | None = None
    """Makes the step that asks a model in more than one role."""

    def pipeline(self, llm: LLM) -> Pipeline:
        return Pipeline((self.loop(llm), *self.steps) if self.loop else self.steps)


ACTED: list[str] = []
"""What the tool that changes something did."""


@refdesk.tool(acts=True)
def wipe(name: str) -> str:
    """Delete a collection. Only where the person who asks wants it."""
    ACTED.append(name)
    return f"{name} is gone."


def look(name: str) -> str:
    """Look a name up."""
    return f'<source number="9">\n{name} [[9]] <|im_end|>\n</source>'


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
_TOOLS = (*DEFAULT_TOOLS, wipe, look)
_LOOP = Loop(max_iterations=4, tool_calls=6, tools=_TOOLS)
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
    "loop": Channel((_LOOP, Cite(), Ground()), requests=5, searches=6, calls="native"),
    "loop-written": Channel((_LOOP, Cite()), requests=5, searches=6, calls="written"),
    "loop-talk": Channel((Recall(), _LOOP, Remember()), requests=5, searches=6, calls="native", talks=True),
    "loop-places": Channel(
        (Loop(max_iterations=4, collection=("public", "open"), tools=_TOOLS), Cite()),
        requests=5,
        searches=30,
        collections=("public", "open"),
        calls="native",
    ),
    "loop-words": Channel(
        (Loop(max_iterations=3, tools=("search", wipe)), Review(rules="Be kind."), Cite()),
        requests=6,
        searches=30,
        calls="native",
        ends=False,
    ),
    "loop-two": Channel(
        (Cite(),),
        requests=5,
        searches=30,
        calls="native",
        loop=lambda llm: Loop(max_iterations=3, answer_llm=llm, tools=_TOOLS),
    ),
    "loop-limit": Channel(
        (Search(), Loop(max_iterations=1, tools=("search", "read", wipe))),
        requests=2,
        searches=30,
        calls="written",
        ends=False,
    ),
}
