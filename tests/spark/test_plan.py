"""The plan and its draws, without Spark: the law of a release is that of the method on one machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

import nominym as nym

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'nominym[spark]'")
from nominym.spark import blocks, draws, plan, tasks
from nominym.table import Table, code

TAX = nym.Taxonomy.from_edges(
    [("flu", "infection"), ("cold", "infection"), ("burn", "injury"), ("infection", "illness"), ("injury", "illness")]
)
ROWS = {
    "diagnosis": ["flu", "flu", "flu", "cold", "burn", "cold"],
    "age": [30, 30, 30, 40, 50, 40],
    "ward": ["A", "B", "C", "D", "E", "F"],
}
MEANINGS = {"diagnosis": TAX, "age": nym.Order()}


def counted(inside: list[str]) -> plan.Counted:
    """Count as Spark does: with a hash of each tuple."""
    tuples = Counter(zip(*(ROWS[name] for name in inside), strict=True))
    columns = {name: [each[i] for each in tuples] for i, name in enumerate(inside)}
    # The first tuple stands alone in a block; of the others there are two to a block.
    places = [-5 + 3 * i for i in range(len(tuples))]
    return plan.Counted.of(pa.table({**columns, "n": list(tuples.values()), "place": places}), inside, "n", "place")


def masked_in_parts(method: Any, inside: list[str], meanings: Any, *, parts: bool, seed: int | None = None) -> Any:
    """Mask as on Spark, block by block, and return the rows of the release in their order."""
    tuples = counted(inside)
    result = method.apply(tuples.table(), meanings, seed)
    names = list(meanings)
    after = [result.secret.comparison.changes[name].after.column for name in names]
    slots = plan.slots_of(after, result.secret.groups, tuples.records)
    key = draws.new_key(seed)
    stacked = np.column_stack(
        [plan.coded_values(pa.array(ROWS[name]), tuples.categories[i]) for i, name in enumerate(inside)]
    )
    home = {
        tuple(codes): block
        for codes, block in zip(tuples.codes.tolist(), plan.blocks_of(tuples.places, 2), strict=True)
    }
    block = np.array([home[tuple(codes)] for codes in stacked.tolist()])
    split = None
    if parts:
        # Wards tell the part of a large block, as hashes of rows do.
        part = np.array([ord(ward) % 3 for ward in ROWS["ward"]])
        split = {}
        for each in np.unique(block):
            rows = block == each
            cells, times = np.unique(np.column_stack([stacked[rows], part[rows]]), axis=0, return_counts=True)
            split[int(each)] = cells[:, :-1].astype(np.uint32), cells[:, -1].astype(np.int64), times
        block = block + 2 * part
    shares = plan.shares(tuples, slots, 2, split, key)
    wards = np.array([ord(ward) for ward in ROWS["ward"]], dtype=np.int64)
    release = []
    for number, share in shares.items():
        rows = np.flatnonzero(block == number)
        share = plan.Share.from_bytes(share.to_bytes())
        order, got = plan.placed(stacked[rows], [wards[rows]], share, key, number)
        for row, slot in zip(rows[order], got, strict=True):
            new = [column.categories[code] for column, code in zip(after, slot, strict=False)]
            release.append((ROWS["ward"][row], *new))
    return tuple(sorted(release))


def masked_at_once(method: Any, meanings: Any) -> Any:
    data = replace(method, accept=["ward"]).apply(ROWS, meanings).data
    return tuple(sorted(zip(data["ward"], *(data[name] for name in meanings), strict=True)))


@pytest.mark.parametrize(
    ("method", "parts"),
    [
        (nym.RankSwap(k=2), True),
        (nym.RankSwap(k=2, method="dynamic"), False),
        (nym.DataSwap(rate=0.7, true_swaps=True), True),
    ],
)
def test_the_law_is_that_of_one_machine(method: Any, parts: bool) -> None:
    times = 400
    one, other = Counter[Any](), Counter[Any]()
    for _ in range(times):
        one[masked_at_once(method, MEANINGS)] += 1
        other[masked_in_parts(method, list(MEANINGS), MEANINGS, parts=parts)] += 1
    assert len(one) > 3
    # Two samples of one law; cells that few draws fall into are one. An error of this test: one in a million.
    seen = [(one[each], other[each]) for each in {*one, *other}]
    cells = [pair for pair in seen if sum(pair) >= 20]
    rest = np.sum([pair for pair in seen if sum(pair) < 20], axis=0) if len(cells) < len(seen) else None
    table = np.array([*cells, *([] if rest is None else [rest])], dtype=float)
    statistic = ((table[:, 0] - table[:, 1]) ** 2 / table.sum(axis=1)).sum()
    assert statistic < chi2.isf(1e-6, len(table) - 1)


def test_the_order_of_arrival_does_not_matter() -> None:
    codes = np.array([[0, 1], [1, 0], [0, 1], [0, 1], [1, 0]], dtype=np.uint32)
    hashes = np.array([5, 3, 9, 1, 3], dtype=np.int64)
    share = plan.Share(
        np.array([[0, 1], [1, 0]], dtype=np.uint32), np.array([3, 2]), np.array([1, 1, 1, 2]),
        np.array([[7, 0], [8, 0], [9, 1], [4, 2]], dtype=np.uint32),
    )  # fmt: skip
    found = set()
    for seed in range(6):
        rows = np.random.default_rng(seed).permutation(5)
        order, slots = plan.placed(codes[rows], [hashes[rows]], share, b"key", 3)
        found.add(tuple(zip(hashes[rows][order].tolist(), slots[:, 0].tolist(), strict=True)))
    assert len(found) == 1
    assert plan.placed(codes, [hashes], share, b"another", 3)[1].shape == (5, 2)


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [0, 1, 2, 3, 4, 4], [0, 0, 0, 0, 1], []])
def test_records_that_are_not_the_plans_are_refused(rows: list[int]) -> None:
    codes = np.array([[0, 1], [0, 1], [0, 1], [1, 0], [1, 0]], dtype=np.uint32)
    share = plan.Share(codes[[0, 3]], np.array([3, 2]), np.array([3, 2]), codes[[0, 3]])
    with pytest.raises(plan.PlanError, match="read again"):
        plan.placed(codes[rows], [np.arange(len(rows))], share, b"key", 0)
    with pytest.raises(plan.PlanError, match="read again"):
        plan.coded_values(pa.array(["flu", "plague"]), pa.array(["flu", "cold"]))


def test_draws_are_uniform_and_depend_on_key_block_and_part() -> None:
    given = draws.numbers(b"key", 3, 0, 4096)
    again = [draws.numbers(*of, 4096) for of in ((b"key", 4, 0), (b"key", 3, 1), (b"yek", 3, 0))]
    assert (given == draws.numbers(b"key", 3, 0, 4096)).all()
    assert all(not (given == other).any() for other in again)
    # The mean of n uniform numbers is within five deviations of 1/2 but once in two million.
    assert abs(given.astype(float).mean() / 2**64 - 0.5) < 5 / np.sqrt(12 * 4096)
    assert draws.new_key(None) != draws.new_key(None)
    assert draws.new_key(7) == draws.new_key(7)


def test_numbers_of_a_block_are_measured_by_those_of_all_records() -> None:
    values = pa.table({"c0": [float(i) for i in range(11) for _ in range(3)]})
    every = code(pa.array([0.0, 100.0]), "c0")
    found = [
        blocks.permuted(
            Table(values), nym.RankSwap(k=4), {"c0": nym.Order()}, {}, {"c0": ends}, b"key", 3
        ).figures["attributes"]["c0"]
        for ends in (None, every)
    ]  # fmt: skip
    # The block has a tenth of the whole range, and the same groups.
    assert found[1]["expected_rmse"] == pytest.approx(found[0]["expected_rmse"] / 10, rel=1e-12)
    assert found[1]["expected_unchanged"] == found[0]["expected_unchanged"]


def test_an_exception_of_a_task_has_no_other_one_behind_it() -> None:
    with pytest.raises(plan.PlanError, match="ValueError") as raised:
        tasks.without_values(int, "zebra")
    assert raised.value.__context__ is raised.value.__cause__ is None
