"""What is wrong with a list of steps, all of it at once, before any of them runs."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from refdesk.errors import Problem
from refdesk.pipeline.options import wrong_options

if TYPE_CHECKING:
    from refdesk.pipeline.step import Kind, Step

_PLACE = re.compile(r"([a-z]?)(\d+)")

Placed = tuple[str, "Step"]
"""A step and its position, `3` or `3.1`."""

NAMES: "dict[Kind, str]" = {
    "retriever": "a step that searches, such as `search`",
    "memory": "a memory step, such as `recall`",
    "answer_generator": "a step that answers, such as `answer`",
}


def placed(steps: "Sequence[Step]", within: str = "") -> Iterator[Placed]:
    """Yield all steps with their positions, those of inner blocks after the step that holds them."""
    for number, step in enumerate(steps, 1):
        position = f"{within}{number}"
        yield position, step
        for inner, block in _blocks(position, step):
            yield from placed(block, inner)


def _blocks(position: str, step: "Step") -> "list[tuple[str, tuple[Step, ...]]]":
    """Return the blocks of a step with what the positions in them begin with: `3.`, or `3.a` and `3.b`."""
    if len(step.blocks) == 1:
        return [(f"{position}.", step.blocks[0])]
    return [(f"{position}.{chr(ord('a') + place)}", block) for place, block in enumerate(step.blocks)]


def _in_order(problem: Problem) -> list[tuple[str, int]]:
    return [(letter, int(number)) for letter, number in _PLACE.findall(problem.position)]


def _exclude(one: str, other: str) -> bool:
    """Tell whether two positions are in different blocks of a step, of which only one runs."""
    pairs = zip(_PLACE.findall(one), _PLACE.findall(other), strict=False)
    first = next((pair for pair in pairs if pair[0] != pair[1]), None)
    return first is not None and first[0][0] != first[1][0]


def errors(steps: "Sequence[Step]") -> tuple[Problem, ...]:
    """Return what keeps a pipeline from running, apart from models that are missing, in order of position."""
    found = [
        *(problem for position, step in placed(steps) for problem in own_problems(step, position)),
        *_order(steps, set()),
        *_repeated_ids(steps),
    ]
    found.sort(key=_in_order)
    return (*found, *_silent(steps))


def missing_models(steps: "Sequence[Step]") -> tuple[Problem, ...]:
    """Return a problem for each step that needs a language model of the run."""
    return tuple(
        Problem(
            position=position,
            step=step.label,
            reason="It needs a language model, and none is configured.",
            remedy="Name one: `--llm`, `llm=` of the call, REFDESK_LLM, or the step's own option.",
        )
        for position, step in placed(steps)
        if step.needs_llm
    )


def faulty_files(steps: "Sequence[Step]") -> tuple[Problem, ...]:
    """Return what is wrong with files that the options of steps name."""
    return tuple(
        Problem(position=position, step=step.label, reason=reason, remedy=remedy)
        for position, step in placed(steps)
        for reason, remedy in step.file_problems()
    )


def remarks(steps: "Sequence[Step]") -> tuple[Problem, ...]:
    """Return what should be looked at."""
    everywhere = list(placed(steps))
    return (
        *(remark for place in everywhere for remark in _doubts(place)),
        *_several(everywhere, "answer_generator", "answers", "Only the last one's answer is used."),
        *_several(everywhere, "quality_gate", "reviews the answer", "One is usually enough."),
    )


def own_problems(step: "Step", position: str = "") -> Iterator[Problem]:
    """Yield what is wrong with the options of a step, whatever stands around it."""
    for reason, remedy in (*wrong_options(step), *step.problems()):
        yield Problem(position=position, step=step.label, reason=reason, remedy=remedy)


def _order(steps: "Sequence[Step]", seen: "set[Kind]", within: str = "") -> Iterator[Problem]:
    """Yield what comes in a wrong order; adds the kinds of the steps to `seen`."""
    for number, step in enumerate(steps, 1):
        position = f"{within}{number}"
        if step.required and not seen & set(step.required):
            wanted = " or ".join(NAMES.get(kind, kind) for kind in step.required)
            yield Problem(
                position=position,
                step=step.label,
                reason=f"Nothing before it is {wanted}.",
                remedy="Put one before it, or take this step out.",
            )
        if step.kind == "answer_generator" and "quality_gate" in seen:
            yield Problem(
                position=position,
                step=step.label,
                reason="It answers after a quality gate, so what it writes is reviewed by nothing.",
                remedy="Put it before the gate.",
            )
        before = frozenset(seen)
        for inner, block in _blocks(position, step):
            there = set(before)
            yield from _order(block, there, inner)
            seen |= there
        seen.add(step.kind)


def _repeated_ids(steps: "Sequence[Step]") -> Iterator[Problem]:
    named = [(position, step) for position, step in placed(steps) if step.id]
    counts = Counter(step.id for _, step in named)
    first: dict[str, str] = {}
    for position, step in named:
        if counts[step.id] > 1 and step.id in first:
            yield Problem(
                position=position,
                step=step.name,
                reason=f"Its id {step.id!r} is that of step {first[step.id]}.",
                remedy="Give each step an id of its own, or none.",
            )
        first.setdefault(step.id, position)


def _silent(steps: "Sequence[Step]") -> Iterator[Problem]:
    if not any(step.kind == "answer_generator" for _, step in placed(steps)):
        yield Problem(
            position="",
            step="",
            reason="No step answers." if steps else "It has no steps.",
            remedy="Add a step that answers, such as `answer`.",
        )


def _doubts(place: Placed) -> Iterator[Problem]:
    position, step = place
    if step.on_error == "fallback":
        yield Problem(
            position=position,
            step=step.label,
            reason="`on_error: fallback` is deprecated and means `continue`.",
            remedy="Write `continue`.",
        )
    if step.on_error != "stop" and step.kind in ("answer_generator", "quality_gate", "input_gate"):
        yield Problem(
            position=position,
            step=step.label,
            reason="When it fails the run goes on, without what it is there for.",
            remedy="Write `on_error: stop`.",
        )


def _several(everywhere: Sequence[Placed], kind: "Kind", does: str, remedy: str) -> Iterator[Problem]:
    found = [(position, step) for position, step in everywhere if step.kind == kind]
    for place, (position, step) in enumerate(found):
        earlier = next((one for one, _ in found[:place] if not _exclude(one, position)), None)
        if earlier is not None:
            yield Problem(
                position=position,
                step=step.label,
                reason=f"It {does}, as step {earlier} does.",
                remedy=remedy,
            )
