"""A call that was stopped leaves nothing behind: the next one neither warns nor gives anything else."""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from typing import Any

import pytest

import nominym as nym

FRAME, TAXONOMIES = nym.datasets.discharges(300, seed=1)
FRAME = FRAME[["diagnosis", "procedure"]]
MASKED = {name: TAXONOMIES[name] for name in FRAME}


def stopped(at: int, with_what: type[BaseException], frame: Any, **options: Any) -> bool:
    """Stop a strict call when progress is told for a certain time; return whether it came so far."""
    left = at

    def tell(_done: int, _total: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise with_what("enough")

    try:
        nym.rank_swap(frame, MASKED, k=5, progress=tell, **options)
    except with_what:
        return True
    return False


@pytest.mark.parametrize("with_what", [KeyboardInterrupt, RuntimeError])
def test_stopped_anywhere(with_what: type[BaseException]) -> None:
    """Also of other columns of the very same table: only what was released counts."""
    expected = nym.rank_swap(FRAME, MASKED, k=5, seed=7)
    at = 0
    while stopped(at, with_what, FRAME):
        gc.collect()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            again = nym.rank_swap(FRAME, MASKED, k=5)
            alone = nym.rank_swap(FRAME, {"diagnosis": TAXONOMIES["diagnosis"]}, k=5, accept=["procedure"])
        assert [str(each.message) for each in told if "earlier call" in str(each.message)] == []
        assert {type(each.message) for each in told} <= {nym.error.PrivacyWarning}
        assert not any("earlier call" in note for note in (*again.summary["notes"], *alone.summary["notes"]))
        assert nym.rank_swap(FRAME, MASKED, k=5, seed=7).data.equals(expected.data)
        at += 1
    assert at > 5


BY_SIGNALS = """
import gc, os, random, signal, threading, time
import nominym as nym

frame, taxonomies = nym.datasets.discharges(1_500, seed=1)
frame = frame[["diagnosis", "procedure"]]
masked, draw = {name: taxonomies[name] for name in frame}, random.Random(1)

def call():
    begun = time.perf_counter()
    nym.rank_swap(frame, masked, k=10)
    return time.perf_counter() - begun

signal.signal(signal.SIGINT, signal.default_int_handler)
takes, stopped = call(), 0
for _ in range(15):
    timer = threading.Timer(draw.random() * takes, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        call()
        timer.join()
        time.sleep(0.01)
    except KeyboardInterrupt:
        stopped += 1
    timer.join()
    gc.collect()
    call()
print(stopped)
"""


def test_stopped_by_signals() -> None:
    """Every warning is an error there, those of the interpreter at its end too."""
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", BY_SIGNALS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 0
