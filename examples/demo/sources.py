"""Write real documents as JSON Lines: docstrings of the standard library, READMEs of installed packages."""

import importlib
import inspect
import json
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

MODULES = [
    "argparse",
    "asyncio.queues",
    "asyncio.tasks",
    "base64",
    "bisect",
    "calendar",
    "collections",
    "concurrent.futures",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "email.message",
    "enum",
    "fnmatch",
    "fractions",
    "functools",
    "glob",
    "gzip",
    "hashlib",
    "heapq",
    "http.client",
    "http.server",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "logging",
    "mailbox",
    "math",
    "mimetypes",
    "multiprocessing.pool",
    "operator",
    "os",
    "os.path",
    "pathlib",
    "pickle",
    "queue",
    "random",
    "re",
    "sched",
    "secrets",
    "shelve",
    "shlex",
    "shutil",
    "signal",
    "smtplib",
    "socket",
    "sqlite3",
    "ssl",
    "statistics",
    "string",
    "subprocess",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "timeit",
    "tokenize",
    "traceback",
    "types",
    "unittest",
    "urllib.parse",
    "urllib.request",
    "uuid",
    "venv",
    "warnings",
    "weakref",
    "xml.etree.ElementTree",
    "zipfile",
    "zlib",
]


def python_records() -> Iterator[dict[str, Any]]:
    """Yield one record for each documented module, class, method and function."""
    for name in MODULES:
        module = importlib.import_module(name)
        url = f"https://docs.python.org/3/library/{name}.html"
        for path, thing in documented(name, module):
            text = inspect.getdoc(thing) or ""
            if len(text) > 40:
                yield {"id": path, "title": path, "text": text, "url": f"{url}#{path}", "module": name}


def documented(name: str, module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the module and what it defines, with dotted names."""
    yield name, module
    for key, thing in sorted(vars(module).items()):
        if key.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
            continue
        yield f"{name}.{key}", thing
        if inspect.isclass(thing):
            for method, function in sorted(vars(thing).items()):
                if not method.startswith("_") and inspect.isroutine(function):
                    yield f"{name}.{key}.{method}", function


def package_records() -> Iterator[dict[str, Any]]:
    """Yield the README of each installed package that has a short one."""
    for distribution in distributions():
        meta = distribution.metadata
        text = meta.get("Description") or meta.get_payload() or ""
        if 200 < len(text) < 8000:
            name, url = meta["Name"], f"https://pypi.org/project/{meta['Name']}/"
            yield {"id": name, "title": name, "text": text, "url": url, "version": meta["Version"]}


def write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    unique = {record["id"]: record for record in records}
    path.write_text(
        "".join(json.dumps(unique[key], ensure_ascii=False) + "\n" for key in sorted(unique)), "utf-8"
    )


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "python.jsonl", python_records())
    write(folder / "packages.jsonl", package_records())
