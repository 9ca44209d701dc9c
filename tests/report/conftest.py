"""Pages to look at, made once."""

from __future__ import annotations

import importlib.util
import sys

if importlib.util.find_spec("nominym.risk") is None:
    import stand_in

    import nominym

    nominym.risk = sys.modules["nominym.risk"] = stand_in
