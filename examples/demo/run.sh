#!/bin/sh
# Ingest three real bodies of documents and ask them questions. Usage: run.sh PYTHON
set -eu
python=$1
here=$(dirname "$0")
export REFDESK_LIBRARY=.refdesk-demo

show() { printf '\n\033[1m$ refdesk %s\033[0m\n' "$*"; }
refdesk() { "$python" -m refdesk "$@"; }

"$python" "$here/sources.py" "$here/sources"

show ingest README.md docs --collection refdesk --prune
refdesk ingest README.md docs --glob '*.md' --collection refdesk --prune
show ingest python.jsonl --collection python
refdesk ingest "$here/sources/python.jsonl" --collection python --prune
show ingest packages.jsonl --collection packages
refdesk ingest "$here/sources/packages.jsonl" --collection packages --prune

ask() {
    printf '\n\033[1m$ refdesk ask "%s" --collection %s\033[0m\n' "$2" "$1"
    refdesk ask "$2" --collection "$1"
}
ask python "How do I create a temporary directory that is removed automatically?"
ask refdesk "What happens to files that vanished from a folder?"
ask packages "Which package reads Excel files?"
ask packages "Who won the football world cup in 1998?"

pipeline="$here/../pipelines/checked.yaml"
show pipeline check examples/pipelines/checked.yaml
refdesk pipeline check "$pipeline"
show ask "Which package reads Excel files?" --collection packages --pipeline examples/pipelines/checked.yaml --trace
refdesk ask "Which package reads Excel files?" --collection packages --pipeline "$pipeline" --trace
