"""`python -m refdesk` is the command `refdesk`."""

from refdesk.cli.entry import main

if __name__ == "__main__":
    main()
