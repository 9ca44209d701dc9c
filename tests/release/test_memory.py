"""A table in memory is codes, not texts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import re, sys
import nominym as nym
# Not getrusage: its peak is that of the parent, if that was higher when it started the process.
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) * 1024
small, large, out = sys.argv[1:]
for path in (small, large):
    before = peak()
    table = nym.release.read_table(path)
    nym.release.write_table(table, out, overwrite=True)
print(peak() - before, table.nbytes)
"""


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_texts_are_not_held(tmp_path: Path, suffix: str) -> None:
    import numpy as np
    import pyarrow as pa

    import nominym as nym

    n, columns = 800_000, 4
    rng = np.random.default_rng(1)
    texts = pa.array([f"a rather long name of the category with the number {i:03}" for i in range(500)])
    codes = [pa.array(rng.integers(0, 500, n, dtype=np.int32)) for _ in range(columns)]
    table = pa.table([pa.DictionaryArray.from_arrays(code, texts) for code in codes], names=list("abcd"))
    small, large = tmp_path / f"small{suffix}", tmp_path / f"large{suffix}"
    # A first pass over a part, so that what every process needs once is not counted.
    nym.release.write_table(table.slice(0, n // 8), small)
    nym.release.write_table(table, large)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, small, large, tmp_path / f"out{suffix}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    more, held = map(int, done.stdout.split())
    written = n * columns * len(texts[0].as_py())
    assert held < 1.1 * 4 * n * columns + 10**6
    # Codes, and a batch of texts.
    assert more < written / 2
