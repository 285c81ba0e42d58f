"""The verbs of a desk in the terminal.

- `entry`, `main`: the commands together, and what becomes of errors that precede a command
- `session`: what every command shares: global options, opening the library, errors to exit codes
- `exits`: the exit codes and the one line that an error is
- `options`, `conditions`: arguments that several commands take
- `ingest`, `reembed`, `ask`, `search`, `documents`, `collections`, `models`, `stats`, `evaluate`: commands
- `jobs`, `recordfiles`, `watch`: one ingestion, what it reads, and one after another
- `terminal`, `tables`, `answers`, `summaries`, `progress`: what people see
- `records`: the same as JSON

Modules of refdesk that take long to load are imported inside the commands, so that `--help` answers at once.
"""
