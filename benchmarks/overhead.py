"""What a framework costs for each step: a pipeline of ten steps that do nothing, here and in two peers.

Each framework runs in an environment of its own (made on first use in .bench/) and in a process of its own;
rounds are interleaved, and each prints the seconds of its round. Ours includes events to a listener, the
trace, and the checks of what a step wrote.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

STEPS, RUNS, ROUNDS = 10, 300, 9
PEERS = {"haystack": "haystack-ai", "langchain": "langchain-core"}
"""Packages, in the newest version that can be had."""
ENVIRONMENTS = Path(__file__).parent.parent / ".bench"


def ours() -> Callable[[int], None]:
    """Return what runs refdesk's pipeline so many times."""
    from refdesk.context import Context
    from refdesk.events import Event
    from refdesk.pipeline import Pipeline, Run, Step

    @dataclass(frozen=True, kw_only=True)
    class Nothing(Step):
        """Do nothing."""

        kind: ClassVar[Any] = "query_optimizer"

        async def __call__(self, context: Context, run: Run) -> Context:
            return context

    @dataclass(frozen=True, kw_only=True)
    class Silence(Nothing):
        """Answer nothing, so that the pipeline is one that may run."""

        kind: ClassVar[Any] = "answer_generator"

    class NoServices:
        def llm(self, value: object) -> None:
            return None

    pipeline = Pipeline((*(Nothing() for _ in range(STEPS - 1)), Silence()))
    services: Any = NoServices()

    async def work(times: int) -> None:
        for _ in range(times):
            seen: list[Event] = []
            context = await pipeline.run(Context(question="?"), Run(services=services, sinks=(seen.append,)))
            assert len(context.trace) == STEPS
            assert len(seen) == 2 * STEPS + 2

    return lambda times: asyncio.run(work(times))


def haystack() -> Callable[[int], None]:
    """Return what runs a chain of Haystack components so many times."""
    from haystack import Pipeline, component

    @component
    class Nothing:
        @component.output_types(value=str)
        def run(self, value: str) -> dict[str, str]:
            return {"value": value}

    pipeline = Pipeline()
    for place in range(STEPS):
        pipeline.add_component(f"step{place}", Nothing())
        if place:
            pipeline.connect(f"step{place - 1}.value", f"step{place}.value")

    def work(times: int) -> None:
        for _ in range(times):
            done = pipeline.run({"step0": {"value": "?"}})
            assert done[f"step{STEPS - 1}"]["value"] == "?"

    return work


def langchain() -> Callable[[int], None]:
    """Return what runs a chain of LCEL runnables so many times."""
    from langchain_core.runnables import RunnableLambda, RunnableSequence

    def nothing(value: str) -> str:
        return value

    chain = RunnableSequence(*(RunnableLambda(nothing) for _ in range(STEPS)))

    def work(times: int) -> None:
        for _ in range(times):
            assert chain.invoke("?") == "?"

    return work


FRAMEWORKS = {"ours": ours, "haystack": haystack, "langchain": langchain}


def serve(name: str) -> None:
    """Run a round for each line on stdin."""
    work = FRAMEWORKS[name]()
    work(20)
    print(version(PEERS.get(name, "refdesk")), flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        work(RUNS)
        print(time.perf_counter() - began, flush=True)


def environment(name: str) -> str:
    """Return the interpreter in which a framework is installed."""
    if name not in PEERS:
        return sys.executable
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--quiet", PEERS[name]], check=True)
    return str(python)


def started(name: str) -> tuple["subprocess.Popen[str]", str]:
    """Start the process of a framework and wait until it is warm; return its version beside it."""
    process = subprocess.Popen(
        [environment(name), "-W", "ignore", __file__, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"HAYSTACK_TELEMETRY_ENABLED": "False", "LANGSMITH_TRACING": "false", "PATH": "/usr/bin:/bin"},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def round_of(process: "subprocess.Popen[str]") -> float:
    """Return the microseconds per step of one round."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    return float(process.stdout.readline()) / RUNS / STEPS * 1e6


def main() -> None:
    processes = {name: started(name) for name in FRAMEWORKS}
    times: dict[str, list[float]] = {name: [] for name in processes}
    for _ in range(ROUNDS):
        for name, (process, _version) in processes.items():
            times[name].append(round_of(process))
    for process, _version in processes.values():
        process.communicate("")
    print(f"{STEPS} steps that do nothing, µs per step, {ROUNDS} interleaved rounds of {RUNS} runs")
    for name, taken in times.items():
        ratio = median(taken) / median(times["ours"])
        print(
            f"{name:10} median {median(taken):7.1f}  least {min(taken):7.1f}  {ratio:5.1f} x  "
            f"({PEERS.get(name, 'refdesk')} {processes[name][1]})"
        )


if __name__ == "__main__":
    serve(sys.argv[1]) if len(sys.argv) > 1 else main()
