"""What all tests share: the way to real data, where there are any."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# Every run tries the same examples: a failure is a failure for everyone.
settings.register_profile("nominym", deadline=None, derandomize=True)
settings.load_profile("nominym")


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Give the path of a real data file, or skip the test where it is absent."""
    folder = Path(os.environ.get("NOMINYM_DATA", Path(__file__).parents[2] / "shared" / "data"))

    def path(name: str) -> Path:
        file = folder / name
        if not file.exists():
            pytest.skip(f"real data {name!r} not found; set NOMINYM_DATA to the folder that has it")
        return file

    return path
