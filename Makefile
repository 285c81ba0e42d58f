# `make` lists the targets. Nothing here needs more than make, Python 3.11+ and the package registry.
PYTHON ?= python3
PY := .venv/bin/python
export PYTHONDONTWRITEBYTECODE :=
.DEFAULT_GOAL := help
.PHONY: help install models mariadb demo check test local bench lock docs clean

help: ## List the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

install: .venv/installed ## Create .venv with the locked dependencies and refdesk itself

.venv/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("refdesk needs Python 3.11 or newer, found " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.lock
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch .venv/installed

models: .venv/installed ## Fetch and verify the default embedding model (91 MB, once)
	$(PY) -m refdesk models pull

demo: models ## Ingest real documents and ask questions
	sh examples/demo/run.sh $(PY)

check: .venv/installed ## Lint, format, types, import layers, generated docs
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -c 'from importlinter.cli import lint_imports_command as run; run()'
	$(PY) docs/generate.py --check

test: models mariadb ## Run the tests; those of MariaDB need its server, which is installed where it can be
	$(PY) -m pytest

# The package of the server alone: it starts no service.
mariadb:
	@PATH="$$PATH:/usr/sbin:/usr/local/sbin"; export DEBIAN_FRONTEND=noninteractive; \
	command -v mariadbd >/dev/null || test -n "$$REFDESK_TEST_MARIADB" || { test "$$(id -u)" = 0 \
	&& { apt-get update; apt-get install -y --no-install-recommends mariadb-server-core mariadb-client-core; }; } \
	>/dev/null 2>&1 || echo "The tests of MariaDB are skipped: mariadb-server-core could not be installed." >&2

local: models ## Fetch a small language model (127 MB, once) and run the tests that ask it
	$(PY) -m pip install --quiet --disable-pip-version-check --only-binary :all: xllamacpp==2026.10.11549
	$(PY) -m refdesk models pull smollm2-135m-instruct
	$(PY) -m pytest -m local

bench: models ## Print speed figures
	$(PY) benchmarks/run.py

docs: .venv/installed ## Write the generated parts of the docs
	$(PY) docs/generate.py

lock: ## Resolve the dependencies anew into requirements.lock (needs uv)
	uv pip compile pyproject.toml --extra llm --group dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --upgrade --output-file requirements.lock

clean: ## Remove what make made
	rm -rf .venv .refdesk .refdesk-demo examples/demo/sources .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
