"""python -m latebind: the program `latebind`."""

import sys

from ._program import main

sys.exit(main())
