"""`python -m gapless` is `gapless`."""

from __future__ import annotations

import sys

from gapless.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
