"""Where the process begins and ends: Ctrl-C is quiet from the first moment to the last."""

import atexit
import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130
"""`ExitCode.INTERRUPTED`, which is not loaded here."""


def main() -> None:
    """Run the command line of this process."""
    try:
        from refdesk.cli.main import main as run

        run()
    except KeyboardInterrupt:
        _interrupts_end_it()
        sys.stderr.write("Interrupted.\n")
        sys.exit(INTERRUPTED)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _interrupts_end_it()
        raise


def _interrupts_end_it() -> None:
    """Let another Ctrl-C end what still runs at once, and change nothing of how the process ends.

    While the interpreter is taken down it would kill the process by the signal.
    """
    signal.signal(signal.SIGINT, _end)
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
