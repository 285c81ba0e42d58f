"""Where the process begins: Ctrl-C is quiet from the first moment, also while modules are loaded."""

import sys


def main() -> None:
    """Run the command line of this process."""
    try:
        from refdesk.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
