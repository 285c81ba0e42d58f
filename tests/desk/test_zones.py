"""Limits of a desk's reranker: from its file, anew for each question, and never made up."""

from pathlib import Path

import pytest

import refdesk
from refdesk.context import Context
from refdesk.errors import SettingsError
from refdesk.reranking.calibration import write_calibration
from refdesk.reranking.thresholds import SHIPPED, Thresholds
from refdesk.steps import Answer, Assess, Rerank, Search
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio
PIPELINE = Search() | Rerank() | Assess() | Answer()
NEVER = Thresholds(abstain_below=2.0, weak_below=3.0)
ALWAYS = Thresholds(abstain_below=-1.0, weak_below=-1.0)


async def asked(desk: refdesk.Desk, llm: ScriptedLLM | None = None) -> Context:
    return await desk.run(PIPELINE, "How many days of leave?", llm=llm)


def broken(path: str) -> None:
    Path(path).write_text("version: 1\nrerankers: 3")


async def opened(desk: refdesk.Desk) -> str:
    await desk.ingest_text("Leave is 30 days a year.", source_id="leave")
    return f"maxsim({(await desk.services.embedder()).fingerprint})"


async def test_a_new_calibration_counts_at_once(tmp_path: Path) -> None:
    file = tmp_path / "lib" / "calibration.yaml"
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder()) as desk:
        name = await opened(desk)
        assert desk.services.calibration_file == file
        before = await asked(desk, ScriptedLLM(["30 days [[1]]."]))
        assert before.zone == "unknown"
        assert f"No limits are known for the reranker {name!r}" in before.warnings[0]
        write_calibration(file, name, ALWAYS)
        assert (await asked(desk)).zone == "ok"
        write_calibration(file, name, NEVER)
        llm = ScriptedLLM(["Never asked."])
        context = await asked(desk, llm)
        assert context.answer is not None
        assert (context.zone, context.answer.refusal, llm.asked) == ("none", "below_threshold", [])
        write_calibration(file, "another", ALWAYS)
        assert (await asked(desk)).zone == "none"


async def test_the_setting_names_a_file(tmp_path: Path) -> None:
    own = str(tmp_path / "own.yaml")
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder(), calibration=own) as desk:
        name = await opened(desk)
        context = await asked(desk)
        assert isinstance(context.error, SettingsError)
        assert "own.yaml" in str(context.error)
        write_calibration(own, name, ALWAYS)
        assert (await asked(desk)).zone == "ok"
        broken(own)
        with pytest.raises(SettingsError, match="no mapping"):
            await desk.ask("leave", pipeline=PIPELINE)


async def test_no_reranker_no_zone(tmp_path: Path) -> None:
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder(), reranker="none") as desk:
        await opened(desk)
        context = await asked(desk, ScriptedLLM(["30 days [[1]]."]))
    assert context.zone == "unknown"
    assert any("a reranker that is named" in warning for warning in context.warnings)


async def test_nothing_found_asks_no_model(tmp_path: Path) -> None:
    llm = ScriptedLLM(["Never asked."])
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder()) as desk:
        await desk.create_collection("default")
        context = await asked(desk, llm)
    assert context.answer is not None
    assert (context.zone, context.answer.refusal, llm.asked) == ("none", "nothing_found", [])


@pytest.mark.model
async def test_the_default_reranker_has_limits(tmp_path: Path) -> None:
    for precision in ("int8", "fp32"):
        async with refdesk.aopen(tmp_path / precision, precision=precision) as desk:
            name = await opened(desk)
            assert name in SHIPPED
            assert (await asked(desk)).zone == "ok"
