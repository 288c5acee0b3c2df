"""Runs the program `latebind`: python -m latebind."""

import sys

from ._program import main

sys.exit(main())
