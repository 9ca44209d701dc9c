"""The plan and its draws, without Spark: the law of a release is that of the method on one machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy.stats import chi2

import nominym as nym
from nominym.aggregate import total_squares
from nominym.table import code, single

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'nominym[spark]'")
from nominym.spark import block, blocks, draws, plan, tasks

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
    categories = [pa.array(sorted(set(ROWS[name]))) for name in inside]
    codes = {name: coded(columns[name], values) for name, values in zip(inside, categories, strict=True)}
    found = pa.table({**codes, "n": list(tuples.values()), "place": places})
    return plan.Counted.of(found, inside, categories, "n", "place")


def coded(values: Any, categories: Any) -> Any:
    """Code as Spark does."""
    return pc.index_in(pa.array(values), value_set=categories)


def masked_in_parts(method: Any, inside: list[str], meanings: Any, *, parts: bool, seed: int | None = None) -> Any:
    """Mask as on Spark, block by block, and return the rows of the release in their order."""
    tuples = counted(inside)
    result = method.apply(tuples.table(), meanings, seed)
    names = list(meanings)
    after = [result.secret.comparison.changes[name].after.column for name in names]
    slots = plan.slots_of(after, result.secret.groups, tuples.records)
    key = draws.new_key(seed)
    stacked = np.column_stack(
        [plan.codes_of(coded(ROWS[name], tuples.categories[i]), 9) for i, name in enumerate(inside)]
    )
    home = {
        tuple(codes): where
        for codes, where in zip(tuples.codes.tolist(), plan.blocks_of(tuples.places, 2), strict=True)
    }
    at = np.array([home[tuple(codes)] for codes in stacked.tolist()])
    split = None
    if parts:
        # Wards tell the part of a large block, as hashes of rows do.
        part = np.array([ord(ward) % 3 for ward in ROWS["ward"]])
        split = {}
        for each in np.unique(at):
            rows = at == each
            cells, times = np.unique(np.column_stack([stacked[rows], part[rows]]), axis=0, return_counts=True)
            split[int(each)] = cells[:, :-1].astype(np.uint32), cells[:, -1].astype(np.int64), times
        at = at + 2 * part
    shares = plan.shares(tuples, slots, 2, split, key)
    wards = np.array([ord(ward) for ward in ROWS["ward"]], dtype=np.int64)
    release = []
    for number, share in shares.items():
        rows = np.flatnonzero(at == number)
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
        plan.codes_of(coded(["flu", "plague"], pa.array(["flu", "cold"])), 2)
    assert plan.codes_of(pa.array([1, -1], pa.int32()), 2).tolist() == [1, 2]


def test_draws_are_uniform_and_depend_on_key_block_and_part() -> None:
    given = draws.numbers(b"key", 3, 0, 4096)
    again = [draws.numbers(*of, 4096) for of in ((b"key", 4, 0), (b"key", 3, 1), (b"yek", 3, 0))]
    assert (given == draws.numbers(b"key", 3, 0, 4096)).all()
    assert all(not (given == other).any() for other in again)
    # The mean of n uniform numbers is within five deviations of 1/2 but once in two million.
    assert abs(given.astype(float).mean() / 2**64 - 0.5) < 5 / np.sqrt(12 * 4096)
    assert draws.new_key(None) != draws.new_key(None)
    assert draws.new_key(7) == draws.new_key(7)


def job_of(method: Any, values: Any, meaning: Any, root: Any = None) -> block.Job:
    """Tell tasks of one column what the driver tells them, with all values that there are."""
    column = code(pa.array(values), "c0")
    column = column.with_codes(np.arange(column.size, dtype=np.uint32))
    meant = block.Meant(column, meaning, root, pa.array(column.categories), pa.array(column.categories).type)
    return block.Job(method, {"c0": meant}, 0, b"key")


def test_numbers_of_a_block_are_measured_by_those_of_all_records() -> None:
    codes = np.repeat(np.arange(11, dtype=np.uint32), 3)
    own, every = [float(i) for i in range(11)], [*(float(i) for i in range(11)), 100.0]
    for method, figure, scale in ((nym.RankSwap(k=4), "expected_rmse", 10), (nym.Microaggregate(k=4), "squares", 100)):
        found = [
            block.treated(job_of(method, values, nym.Order()), {"c0": codes}, 3).figures["attributes"]["c0"]
            for values in (own, every)
        ]
        # The block has a tenth of the whole range, and the same groups.
        assert found[1][figure] == pytest.approx(found[0][figure] / scale, rel=1e-12)
    # A block without any value, in a column that has some.
    gaps = block.treated(job_of(nym.RankSwap(k=4), own, nym.Order()), {"c0": np.full(9, 11, dtype=np.uint32)}, 3)
    assert gaps.values["c0"].null_count == 9


def test_blocks_have_about_as_many_records_as_wanted_and_never_too_few() -> None:
    rng = np.random.default_rng(1)
    for sizes in (rng.integers(0, 9, 500), np.array([900, 1, 1, 1, 50, 0, 40]), np.array([3]), np.ones(1000, int)):
        cells = np.flatnonzero(sizes)
        block_of, number = blocks.cut(cells, sizes[cells], 100, 20, len(sizes))
        totals = np.bincount(block_of[cells], sizes[cells], number)
        assert (np.diff(block_of) >= 0).all()
        assert totals.sum() == sizes.sum()
        assert number == 1 or totals.min() >= 20
        assert number <= max(1, sizes.sum() // 100)
    assert number == 10


def test_the_z_order_has_room_for_any_number_of_columns() -> None:
    for columns in (1, 2, 3, 7, 16, 60, 61, 84, 200):
        bits = blocks._bits(columns)
        every = [blocks._spread(np.array([(1 << bits) - 1]), at, columns)[0] for at in range(columns)]
        # No two columns share a bit, and none is left over.
        assert sum(map(int, every)) == (1 << bits * min(columns, 60)) - 1 < 1 << 63


def test_total_squares_go_by_counts() -> None:
    values = [1.0, 2.0, 2.0, 5.0, None]
    attribute = single(values, nym.Order())
    once = single([1.0, 2.0, 5.0], nym.Order())
    assert total_squares(once, counts=np.array([1, 2, 1], dtype=np.uint64)) == total_squares(attribute)
    assert total_squares(attribute) == pytest.approx(9 / 16, rel=1e-12)


def test_an_exception_of_a_task_has_no_other_one_behind_it() -> None:
    class Panic(BaseException):
        """As the core raises them."""

    def panic(value: str) -> None:
        raise Panic(value)

    for run, name in ((int, "ValueError"), (panic, "Panic")):
        with pytest.raises(plan.PlanError, match=name) as raised:
            tasks.without_values(run, "zebra")
        assert "zebra" not in str(raised.value)
        assert raised.value.__context__ is raised.value.__cause__ is None
