"""``python -m refclust``: the command line, for whoever has no script on the path."""

from refclust.cli.app import main

main()
