"""Settings and options of steps that a sweep varies: applied, and refused before anything runs."""

from pathlib import Path
from typing import Any

import pytest

from refdesk.errors import InputError
from refdesk.evaluation.sweeps.factors import Base, Factor, base_values, setup, shadowed, wrong_values
from refdesk.pipeline.checking import placed
from refdesk.settings import Settings

TWICE = """\
version: 1
steps:
- search: {fusion: rrf}
- when: {condition: hits<3, steps: [{search: {id: again, top_k: 5}}]}
- rerank
- answer
"""


@pytest.fixture
def base(tmp_path: Path) -> Base:
    """A pipeline with a step inside another, in a file beside the sweep's."""
    (tmp_path / "twice.yaml").write_text(TWICE, "utf-8")
    return Base(own=Settings(), settings=Settings(), pipeline="twice.yaml", folder=tmp_path)


def problems(base: Base, name: str, *values: Any) -> list[str]:
    return list(wrong_values(base, Factor(name=name, values=values)))


def test_values_reach_settings_and_steps_also_inner_ones(base: Base) -> None:
    made = setup(base, {"candidates": 50, "again.top_k": 7, "rerank.threshold": 1})
    steps = {step.label: step for _, step in placed(made.pipeline.steps)}
    assert made.settings.candidates == 50
    assert getattr(steps["again"], "top_k") == 7  # noqa: B009 the step's class is not at hand
    assert getattr(steps["rerank"], "threshold") == 1.0  # noqa: B009
    assert setup(base, {}).pipeline == base.loaded()


def test_a_pipeline_is_a_factor_too(base: Base) -> None:
    made = setup(base, {"pipeline": "simple", "search.top_k": 3})
    assert made.pipeline.name == "simple"
    assert base_values(base, [Factor(name="pipeline", values=("simple",))]) == {"pipeline": "twice.yaml"}


def test_the_base_has_values_of_its_own(base: Base) -> None:
    factors = [Factor(name=name, values=(1,)) for name in ("candidates", "again.top_k", "rerank.keep")]
    assert base_values(base, factors) == {"candidates": 150, "again.top_k": 5, "rerank.keep": None}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("fusoin", "rrf", "Did you mean 'fusion'?"),
        ("fusion", "sum", "zscore, rrf"),
        ("rerank_depth", "25", "Write 25."),
        ("rerank_depth", 0, "at least 1"),
        ("library", "x", "no effect on quality"),
        ("serach.top_k", 5, "Did you mean 'search'?"),
        ("again.topk", 5, "Did you mean 'top_k'?"),
        ("again.top_k", 0, "greater than or equal to 1"),
        ("again.top_k", "5", "Write 5."),
        ("again.id", "other", "no option 'id'"),
        ("rerank.threshold", "high", "valid number"),
        ("pipeline", "nowhere.yaml", "no preset and no file"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(base: Base, name: str, value: Any, said: str) -> None:
    (problem,) = problems(base, name, value)
    assert said in problem


def test_an_unknown_step_is_one_problem_however_many_values(base: Base) -> None:
    assert len(problems(base, "nothing.top_k", 1, 2, 3)) == 1
    assert len(problems(base, "again.top_k", 0, 2, -1)) == 2


def test_steps_with_one_name_have_to_be_told_apart(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text("version: 1\nsteps: [search, search, answer]\n", "utf-8")
    base = Base(own=Settings(), settings=Settings(), pipeline="two.yaml", folder=tmp_path)
    (problem,) = problems(base, "search.top_k", 5)
    assert "2 are called so" in problem
    assert "`id`" in problem


def test_options_that_exclude_each_other_are_found(base: Base) -> None:
    with pytest.raises(InputError, match="for `reranker: llm`"):
        setup(base, {"rerank.prompt": "{question} {hits}"})


def test_a_setting_that_a_step_overrides_is_named(base: Base) -> None:
    assert "fusion 'rrf' of its own" in shadowed(base, Factor(name="fusion", values=("zscore",)))
    assert shadowed(base, Factor(name="candidates", values=(50,))) == ""
