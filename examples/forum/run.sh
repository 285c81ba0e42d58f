#!/bin/sh
# A forum from its database to cited answers. Usage: run.sh PYTHON [FOLDER], FOLDER with Posts.xml of a site.
# FORUM_DB names a PostgreSQL database that may be overwritten; without it a server of its own is started.
set -eu
python=$1
folder=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
export REFDESK_LIBRARY="${REFDESK_LIBRARY:-.refdesk-forum/library}"
# Reranking is fast where the vectors of tokens are kept.
export REFDESK_TOKEN_VECTORS=true

if [ -z "${FORUM_RUN:-}" ]; then
    mkdir -p .refdesk-forum
    FORUM_RUN=1 exec "$python" "$here/server.py" .refdesk-forum/server sh "$0" "$python" "$folder"
fi

show() { printf '\n\033[1m$ refdesk %s\033[0m\n' "$*"; }
refdesk() { "$python" -m refdesk "$@"; }

"$python" "$here/fill.py" "$folder"

show ingest --sql examples/forum/forum.yaml --collection forum
refdesk ingest --sql "$here/forum.yaml" --collection forum

# Without a model an answer quotes sentences, and none looks more like a question than the post that asks it: so
# only answers are searched. With REFDESK_LLM set to a model string, a model writes the answers.
questions=$here/questions-made.txt
if [ -f "$folder/Posts.xml" ]; then questions=$here/questions.txt; fi
while IFS= read -r question; do
    printf '\n\033[1m$ refdesk ask "%s" --collection forum --pipeline forum --filter "post_number>1"\033[0m\n' "$question"
    refdesk ask "$question" --collection forum --pipeline forum --filter "post_number>1"
done < "$questions"

"$python" "$here/measure.py" .refdesk-forum
