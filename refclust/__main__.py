"""``python -m refclust``: the command line, for whoever has no script on the path."""

import sys

from refclust.cli.app import main

sys.exit(main())
