"""Run a command and look at how it ended."""

import json
from typing import Any

from tests.cli.conftest import Run


def as_json(run: Run, *args: str, code: int = 0) -> Any:
    """Run a command with --json; stdout must be one document and nothing else."""
    result = run(*args, "--json")
    assert result.exit_code == code, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def failing(run: Run, *args: str, code: int) -> str:
    """Run a command that fails, and return its one line on stderr."""
    result = run(*args)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr.rstrip("\n")
