"""``python -m viewer.cli``: the same as ``freezer-ui``."""

from __future__ import annotations

import sys

from viewer.cli import main

sys.exit(main())
