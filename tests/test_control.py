"""Progress, Ctrl-C, forks and defects: long work stays under the caller's control."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import time
from threading import Thread

import numpy as np
import pytest

import nominym as nym
from nominym import _core, error

TREE = nym.Taxonomy.from_edges([(f"{i:05}", f"{i // 2:05}") for i in range(1, 6000)])

PROGRAM = """
import numpy as np, pandas as pd, nominym as nym
from nominym import Taxonomy, set_threads, stats, _core
set_threads(2)  # so that no machine is too fast for the test
tree = lambda n: Taxonomy.from_edges([(f"{i:05}", f"{i // 2:05}") for i in range(1, n)])
chain = lambda n: Taxonomy.from_edges([(f"{i:05}", f"{i - 1:05}") for i in range(1, n)])
SETUP
print("started", flush=True)
try:
    CALL
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

# Each takes several seconds on any machine.
LONG_CALLS = {
    "matrix": ("tax = chain(20_000)", "tax.distance_matrix(measure='taxonomic-feature')"),
    # With two parents: in a tree it takes less than a second.
    "mean": (
        "tax = Taxonomy.from_edges([(f'{i:05}', f'{p:05}') for i in range(1, 80_000) for p in {i // 2, i // 3}])",
        "stats.semantic_mean(tax.ids, tax)",
    ),
    "correlation": (
        "tax = tree(4_000); rng = np.random.default_rng(0);"
        "x, y = (pd.Series(pd.Categorical.from_codes(rng.integers(0, 4_000, 10_000_000), tax.ids)) for _ in range(2))",
        "stats.distance_correlation(x, y, tax, tax)",
    ),
    "sse": (
        "tax = chain(900); n = 10_000_000; rng = np.random.default_rng(0);"
        "frame = {'x': pd.Series(pd.Categorical.from_codes(np.arange(n) % 900, tax.ids))};"
        "rows = rng.integers(0, n, (2, n))",
        "stats.sse_distance(frame, *rows, {'x': tax})",
    ),
    "content": (
        "rng = np.random.default_rng(0); n = 100_000;"
        "tax = Taxonomy.from_edges([(str(i), str(int(i * r))) for i in range(1, n) for r in rng.power(9, 3)])",
        "tax.distance('5', '99999', 'lin')",
    ),
    "swap": (
        "tax = tree(3_000); rng = np.random.default_rng(0);"
        "names = lambda: pd.Categorical.from_codes((3_000 * rng.random(4_000_000) ** 3).astype(int), tax.ids);"
        "frame = pd.DataFrame({'x': names(), 'y': names(), 'z': names()}); masked = dict.fromkeys('xyz', tax)",
        "nym.rank_swap(frame, masked, k=50, method='records')",
    ),
    "strict swap": (
        "tax = tree(3_000); rng = np.random.default_rng(0);"
        "names = lambda: pd.Categorical.from_codes((3_000 * rng.random(4_000_000) ** 3).astype(int), tax.ids);"
        "frame = pd.DataFrame({'x': names(), 'y': names(), 'z': names()}); masked = dict.fromkeys('xyz', tax)",
        "nym.rank_swap(frame, masked, k=50)",
    ),
    "linkage": (
        "tax = tree(3_000); rng = np.random.default_rng(0);"
        "names = lambda: pd.Categorical.from_codes((3_000 * rng.random(4_000_000) ** 3).astype(int), tax.ids);"
        "tables = [pd.DataFrame({'x': names(), 'y': names(), 'z': names()}) for _ in range(2)]",
        "nym.risk.linkage(*tables, dict.fromkeys('xyz', tax), sample=None)",
    ),
    "data swap": (
        "rng = np.random.default_rng(0); n = 12_000_000;"
        "keys = [[(rng.integers(0, 3, n).astype(np.uint32), 3)] for _ in range(3)]",
        "_core.draw_pairs(n, [], keys, n // 2, 1, 0)",
    ),
    "distortion": (
        "rng = np.random.default_rng(0);"
        "before, after = ([rng.integers(0, 50_000, 8_000_000).astype(np.uint32) for _ in range(3)] for _ in range(2))",
        "_core.distortions(before, after, [50_000] * 3, [[0, 1], [1, 2], [0, 2], [0, 1, 2]] * 4)",
    ),
    "gray-tsp": ("sets, _ = nym.datasets.baskets(1_000_000, 1)", "nym.gray_tsp_order(sets)"),
    "best order": ("sets, _ = nym.datasets.baskets(1_000_000, 1)", "nym.best_order(sets, 16)"),
    "groups": (
        "sets, _ = nym.datasets.baskets(500_000, 1); order = nym.gray_order(sets)",
        "nym.recode(sets, k=16, order=order)",
    ),
    "closed walk": (
        "sets, _ = nym.datasets.baskets(1_000_000, 1); order = np.arange(1_000_000)",
        "nym.recode(sets, k=32, structure='ring', insiders='accepted', order=order, method='closed-walk')",
    ),
    "labels": (
        "sets, labels = nym.datasets.baskets(1_000_000, 1, labels=500); order = np.arange(1_000_000)",
        "nym.recode(sets, l=8, labels=labels, structure='ring', insiders='accepted', order=order)",
    ),
    "possible worlds": (
        "sets, _ = nym.datasets.baskets(400_000, 1); order = np.arange(400_000);"
        "rel = nym.recode(sets, k=16, structure='ring', insiders='accepted', order=order)",
        "rel.compatible(sets)",
    ),
    "draw": ("", "_core.draw_uniform(1_500_000_000, 1, 0)"),
}


@pytest.mark.parametrize(("setup", "call"), LONG_CALLS.values(), ids=LONG_CALLS)
def test_ctrl_c_stops_within_a_second(setup: str, call: str) -> None:
    program = PROGRAM.replace("SETUP", setup).replace("CALL", call)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(0.8)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        answer = process.stdout.readline()
        waited = time.monotonic() - sent
        assert answer == "interrupted\n"
    # A second is allowed; a machine under load may be late by as much again.
    assert waited < 2


def test_progress_counts_up_to_the_total() -> None:
    seen: list[tuple[int, int]] = []
    TREE.distance_matrix(progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (6000, 6000)
    assert seen == sorted(seen)


def test_progress_is_told_during_the_work() -> None:
    seen: list[int] = []
    chain = nym.Taxonomy.from_edges([(f"{i:05}", f"{i - 1:05}") for i in range(1, 12_000)])
    chain.distance_matrix(measure="taxonomic-feature", progress=lambda done, total: seen.append(done))
    assert any(0 < done < 12_000 for done in seen)


def test_building_and_reading_tell_their_steps(tmp_path) -> None:
    for build in (
        lambda report: nym.Taxonomy.from_edges([("a", "top")], progress=report),
        lambda report: nym.read_taxonomy(tmp_path / "tax.json", progress=report),
    ):
        nym.Taxonomy.from_edges([("a", "top")]).save(tmp_path / "tax.json")
        seen: list[tuple[int, int]] = []
        build(lambda done, total, seen=seen: seen.append((done, total)))
        assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_callback_that_raises_stops_the_work() -> None:
    def stop(done: int, total: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        TREE.distance_matrix(progress=stop)


def test_the_bar(capsys) -> None:
    TREE.distance_matrix(progress=True)
    assert "distances ██████████████████████████████ 100%\n" in capsys.readouterr().err
    TREE.distance_matrix(progress=False)
    assert capsys.readouterr().err == ""
    with pytest.raises(error.ParameterError, match="progress='yes'"):
        TREE.distance_matrix(progress="yes")  # type: ignore[arg-type]


def test_other_python_threads_go_on_meanwhile() -> None:
    # Counting needs the interpreter: it only gets anywhere if the call lets go of it.
    ticks, stop = [0], [False]

    def count() -> None:
        while not stop[0]:
            ticks[0] += 1
            time.sleep(0.001)

    thread = Thread(target=count)
    thread.start()
    before = ticks[0]
    chain = nym.Taxonomy.from_edges([(f"{i:05}", f"{i - 1:05}") for i in range(1, 12_000)])
    chain.graph.matrix(np.arange(12_000, dtype=np.uint32), "taxonomic-feature", np.empty((12_000, 12_000), np.float32))
    during = ticks[0] - before
    stop[0] = True
    thread.join()
    assert during > 10


def test_threads_can_be_set() -> None:
    expected = TREE.distance_matrix(TREE.ids[:100])
    for threads in (1, 3, None):
        nym.set_threads(threads)
        np.testing.assert_array_equal(TREE.distance_matrix(TREE.ids[:100]), expected)
    with pytest.raises(error.ParameterError, match="threads=0"):
        nym.set_threads(0)


def _in_a_child(_: int) -> float:
    return float(TREE.distance_matrix()[1, 2])


def test_forked_children_work() -> None:
    expected = _in_a_child(0)  # the parent has started its threads
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(_in_a_child, range(4)).get(timeout=60) == [expected] * 4


def test_the_core_checks_what_it_is_given() -> None:
    graph, none = TREE.graph, np.empty(0, dtype=np.uint32)
    wrong = np.array([6000], dtype=np.uint32)
    codes = np.array([0, 3], dtype=np.uint32)
    for call in (
        lambda: graph.parents(6000),
        lambda: graph.lcs(wrong),
        lambda: graph.lcs(none),
        lambda: graph.pairs(wrong, wrong, "path"),
        lambda: graph.pairs(none, codes, "path"),
        lambda: graph.pairs(codes, codes, "lin"),
        lambda: graph.pairs(codes, codes, "lin", np.full(6000, -1.0)),
        lambda: graph.pairs(codes, codes, "lin", np.ones(3)),
        lambda: graph.pairs(codes, codes, "pth"),
        lambda: graph.matrix(codes, "path", np.empty((3, 3), np.float32)),
        lambda: graph.mean(codes, np.ones(3, np.uint64), "path"),
        lambda: graph.information("zhou", 7.0),
        lambda: graph.information("secco"),
        lambda: graph.information("corpus", counts=np.ones(3)),
        lambda: _core.Marginality(graph, np.ones(6000, np.uint64)).distances(codes, codes[:1]),
        lambda: _core.Graph(1, wrong, wrong),
        lambda: _core.Graph(2, codes[:1], none),
        lambda: _core.counts(codes, 3),
        lambda: _core.joint(codes, codes[:1], (4, 4)),
        lambda: _core.joint(codes, codes, (4, 3)),
        lambda: _core.covariance_squared(none, none, none.astype(np.uint64), np.eye(2), np.eye(2)),
        lambda: _core.Marginality(graph, np.zeros(6000, np.uint64)),
        lambda: _core.Marginality(graph, np.ones(3, np.uint64)),
        lambda: _core.digits(graph, np.ones(3, np.uint64)),
        lambda: _core.draw_pairs(2, [(codes, 3)], [], 1, 1, 0),
        lambda: _core.draw_pairs(3, [], [[(codes, 4)]], 1, 1, 0),
        lambda: _core.draw_pairs(2, [], [[(codes, 4)]] * 9, 1, 1, 0),
        lambda: _core.distortions([codes], [codes], [3], [[0]]),
        lambda: _core.distortions([codes], [codes], [4, 4], [[0]]),
        lambda: _core.distortions([codes, codes[:1]], [codes, codes], [4, 4], [[0]]),
        lambda: _core.distinct_tuples([codes], [codes], [3]),
        lambda: _core.distinct_tuples([codes], [codes, codes], [4]),
        lambda: _core.distinct_tuples([codes], [none], [4]),
        lambda: _core.distortions([codes], [codes], [4], [[1]]),
        lambda: _core.distortions([none], [none], [4], [[0]]),
    ):
        with pytest.raises(error.NominymError):
            call()


def test_a_panic_becomes_an_internal_error(capfd: pytest.CaptureFixture[str]) -> None:
    # A joint list that is not ordered breaks what the core relies on; no caller of the library can make one.
    x = np.array([5, 0], dtype=np.uint32)
    with pytest.raises(error.InternalError, match=r"a defect in the core: .* \(rust/core/src/\S+\.rs:\d+:\d+\)"):
        _core.covariance_squared(x, x, np.ones(2, np.uint64), np.eye(3), np.eye(3))
    assert capfd.readouterr() == ("", "")
