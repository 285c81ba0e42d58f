"""What users see of the package."""

import subprocess
import sys

import refdesk

HEAVY = (
    "numpy",
    "lance",
    "pyarrow",
    "onnx",
    "onnxruntime",
    "pydantic_ai",
    "typer",
    "rich",
    "httpx",
    "anyio",
    "tokenizers",
)


def test_every_public_name_loads() -> None:
    assert all(getattr(refdesk, name) is not None for name in refdesk.__all__)
    assert len(refdesk.__all__) <= 35


def test_unknown_names_are_attribute_errors() -> None:
    assert not hasattr(refdesk, "nothing")


def test_importing_loads_nothing_heavy() -> None:
    code = f"import sys, refdesk; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_open_is_the_blocking_desk() -> None:
    assert refdesk.open is refdesk.BlockingDesk
