"""Studies: every cell once, kept as it is done, the same whatever ran it."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from nominym.study.keys import digest
from nominym.table import coding

COLUMNS = ("diagnosis", "procedure")


def discharges(n: int = 120, seed: int = 1) -> tuple[pd.DataFrame, dict[str, nym.Taxonomy]]:
    frame, taxonomies = nym.datasets.discharges(n, seed=seed, diagnoses=20, procedures=10)
    return frame[[*COLUMNS, "sex"]], {name: taxonomies[name] for name in COLUMNS}


FRAME, MEANINGS = discharges()


def reverse(frame: pd.DataFrame, meanings: Any, seed: int) -> pd.DataFrame:
    """Mask as badly as can be."""
    return frame.assign(**{name: frame[name].to_numpy()[::-1] for name in meanings})


def small(**more: Any) -> nym.Study:
    methods = {
        "strict": nym.study.grid(nym.RankSwap, k=[2, 5]),
        "noise": nym.Noise(alpha=0.3),
        "reversed": reverse,
    }
    return nym.Study({"a": FRAME}, **{"methods": methods, "meanings": MEANINGS, "seeds": 3, **more})


def test_frame_is_tidy_and_has_what_the_methods_achieve() -> None:
    study = small()
    found = study.run()
    assert list(found) == ["data", "method", "k", "alpha", "seed", "measure", "value", "seconds", "error"]
    assert len(study) == 12
    assert not found["error"].any()
    assert found["value"].notna().all()
    told = found.groupby(["method", "k", "alpha", "seed"], dropna=False)["measure"].agg(set)
    assert len(told) == 12
    assert told.map(
        lambda names: {"rmse", "rmse[diagnosis]", "unchanged", "nearest_row", "total_variation"} <= names
    ).all()
    # The same figures as by hand.
    by_hand = nym.rank_swap(FRAME, MEANINGS, k=5, seed=2).secret.summary["attributes"]["diagnosis"]["rmse"]
    cell = found[(found["k"] == 5) & (found["seed"] == 2) & (found["measure"] == "rmse[diagnosis]")]
    assert cell["value"].tolist() == [by_hand]
    own = found[(found["method"] == "reversed") & (found["measure"] == "rmse[diagnosis]")]["value"]
    assert set(own) == {nym.stats.rmse(FRAME["diagnosis"], FRAME["diagnosis"][::-1].array, MEANINGS["diagnosis"])}


@pytest.mark.parametrize("workers", [2, 5])
def test_results_do_not_depend_on_workers(workers: int) -> None:
    alone, together = small().run(workers=1), small().run(workers=workers)
    pd.testing.assert_frame_equal(alone.drop(columns="seconds"), together.drop(columns="seconds"))


def test_columns_are_coded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: Counter[str] = Counter()
    code = coding.code

    def counting(*given: Any, **more: Any) -> coding.Column:
        column = code(*given, **more)
        counted[str(column.name)] += 1
        return column

    for module in [each for name, each in sys.modules.items() if name.startswith("nominym")]:
        if getattr(module, "code", None) is code:
            monkeypatch.setattr(module, "code", counting)
    methods = [nym.RankSwap(k=5), nym.RankSwap(k=5, method="records"), nym.Noise(alpha=0.3), nym.DataSwap(rate=0.2)]
    small(methods=methods).run(workers=2)
    assert counted == {"diagnosis": 1, "procedure": 1, "sex": 1}


# ---- kept as it is done


def counting(calls: list[int]) -> Any:
    def method(frame: pd.DataFrame, meanings: Any, seed: int) -> pd.DataFrame:
        calls.append(seed)
        return frame

    method.version = 1  # type: ignore[attr-defined]
    return method


def test_another_run_takes_what_is_there(tmp_path: Path) -> None:
    calls: list[int] = []
    how: Any = {"methods": {"own": counting(calls)}, "measures": ["rmse"], "path": tmp_path / "cells"}
    first = small(**how).run()
    assert sorted(calls) == [0, 1, 2]
    again = small(**how).run()
    assert len(calls) == 3
    pd.testing.assert_frame_equal(first, again)
    assert len(pd.read_parquet(tmp_path / "cells")) == len(first)
    # A further seed and a further measure are what is missing; figures that are there stay.
    more = small(**{**how, "seeds": 4, "measures": ["rmse", "unchanged"]}).run()
    assert sorted(calls) == [0, 0, 1, 1, 2, 2, 3]
    kept = more[more["measure"].str.startswith("rmse") & (more["seed"] < 3)]
    assert kept["seconds"].tolist() == first["seconds"].tolist()
    assert set(more["measure"]) == {"rmse", "unchanged", *(f"{m}[{c}]" for m in ("rmse", "unchanged") for c in COLUMNS)}
    small(**how).run()
    assert len(calls) == 7
    # Other data and other meanings are other cells, and so is another version of a method.
    other = FRAME.assign(sex=FRAME["sex"].to_numpy()[::-1])
    nym.Study({"a": other}, **{"meanings": MEANINGS, "seeds": 3, **how}).run()
    assert len(calls) == 10
    small(**{**how, "meanings": {**MEANINGS, "sex": nym.Equality()}}).run()
    assert len(calls) == 13
    how["methods"]["own"].version = 2
    small(**how).run()
    assert len(calls) == 16


def test_a_damaged_cell_is_made_again(tmp_path: Path) -> None:
    first = small(path=tmp_path).run()
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:100])
    pd.testing.assert_frame_equal(first.drop(columns="seconds"), small(path=tmp_path).run().drop(columns="seconds"))


PROGRAM = """
import sys, time
import nominym as nym
from test_study import FRAME, MEANINGS, small
def slow(frame, meanings, seed):
    if seed >= 3 and sys.argv[3] == "wait":
        time.sleep(0.5)  # until what was done is stored
        print("waiting", flush=True)
        time.sleep(30)
    return frame
slow.version = 1
small(methods={"slow": slow, "strict": nym.RankSwap(k=5)}, seeds=8,
      path=sys.argv[1]).run(workers=int(sys.argv[2])).drop(columns="seconds").to_csv(sys.argv[1] + ".csv")
"""


@pytest.mark.parametrize(("number", "workers"), [("SIGKILL", 2), ("SIGINT", 2), ("SIGINT", 1)])
def test_a_run_that_is_ended_keeps_what_was_done(number: str, workers: int, tmp_path: Path) -> None:
    cells, told, command = tmp_path / "cells", tmp_path / "told", [sys.executable, "-c", PROGRAM]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with told.open("wb") as errors:
        started = subprocess.Popen(
            [*command, str(cells), str(workers), "wait"], stdout=subprocess.PIPE, stderr=errors, env=environment,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        assert started.stdout is not None
        for _ in range(workers):
            assert started.stdout.readline() == b"waiting\n"
        began = time.monotonic()
        started.send_signal(getattr(signal, number))
        code = started.wait(20)
        started.stdout.close()
    # A second on an idle machine.
    assert time.monotonic() - began < 15
    assert code != 0
    # Three cells were done before the first that waits; nothing else is in the folder.
    assert len(list(cells.iterdir())) == 3
    if number == "SIGINT":
        assert b"KeyboardInterrupt" in told.read_bytes()
    # Going on gives what a run without an end gives, and leaves what was there as it is.
    before = {path.name: path.stat().st_mtime_ns for path in cells.iterdir()}
    for folder in (cells, tmp_path / "anew"):
        subprocess.run([*command, str(folder), str(workers), "go"], env=environment, check=True)
    assert (tmp_path / "cells.csv").read_text() == (tmp_path / "anew.csv").read_text()
    assert {name: (cells / name).stat().st_mtime_ns for name in before} == before


def test_progress_counts_cells_and_stops_a_run(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    small().run(progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 12) for done in range(13)]

    def stop(done: int, total: int) -> None:
        if done == 5:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        small(path=tmp_path).run(stop)
    assert len(list(tmp_path.iterdir())) >= 5


# ---- failures


def test_failures_are_told_in_place_of_figures(tmp_path: Path) -> None:
    fail = [True]

    def odd(frame: pd.DataFrame, meanings: Any, seed: int) -> pd.DataFrame:
        if seed == 1 and fail[0]:
            raise ValueError("no luck")
        return frame

    odd.version = 1  # type: ignore[attr-defined]

    def broken(outcome: nym.study.Outcome) -> float:
        raise ZeroDivisionError("by nothing")

    methods = {"odd": odd, "too large": nym.RankSwap(k=10_000)}
    study = small(methods=methods, measures=["rmse", broken], path=tmp_path)
    found = study.run()
    failed = found[found["error"] != ""]
    assert failed["value"].isna().all()
    assert set(failed.loc[failed["method"] == "odd", "error"]) == {
        "ValueError: no luck",
        "ZeroDivisionError: by nothing",
    }
    assert failed.loc[failed["method"] == "too large", "error"].str.startswith("DataError: ").all()
    text = study.table("method", "measure", ["rmse", "broken"])
    assert "0.000 ± 0.000 (1 of 3 failed)" in text
    assert "(3 of 3 failed)" in text
    # What failed is tried again.
    fail[0] = False
    again = study.run()
    assert "ValueError: no luck" not in set(again["error"])


def test_draws_that_fail_are_told() -> None:
    def draw(seed: int) -> Any:
        if seed == 2:
            raise OSError("no disk")
        return discharges(60, seed)

    found = nym.Study({"drawn": draw}, [reverse], measures="rmse", seeds=3).run()
    assert found.loc[found["error"] != "", ["seed", "error"]].to_numpy().tolist() == [[2, "OSError: no disk"]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"methods": []}, "one method"),
        ({"methods": [nym.RankSwap(k=2), nym.RankSwap(k=2)]}, "RankSwap, k=2 stands twice"),
        ({"methods": "swap"}, "give methods such as"),
        ({"methods": nym.RankSwap}, "is needed, not <class"),
        ({"methods": [lambda frame, meanings, seed: frame]}, "without a name"),
        ({"methods": {"two": lambda frame, meanings: frame}}, "to take data, meanings and a seed"),
        ({"methods": partial(reverse, seed=3)}, "data, meanings and a seed"),
        ({"meanings": None}, "a mapping from column names"),
        ({"meanings": {"dignosis": nym.Equality()}}, "'a' has no column 'dignosis'"),
        ({"meanings": {"b": MEANINGS}}, "no data set 'b'"),
        ({"measures": ["rsme"]}, "no measure 'rsme'; there are rmse"),
        ({"measures": ["error_rate"]}, "is of item sets"),
        ({"measures": [lambda outcome: 1.0]}, "without a name"),
        ({"measures": []}, "one measure"),
        ({"measures": [3]}, "not 3"),
        ({"seeds": []}, "give seeds"),
        ({"seeds": [1, 1]}, "stands twice"),
        ({"seeds": [-1]}, "seed=-1"),
        ({"seeds": [None]}, "needs a seed"),
    ],
)
def test_bad_requests_are_refused_before_any_work(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(nym.NominymError, match=message):
        small(**wrong)


def test_bad_data_and_questions_are_refused() -> None:
    with pytest.raises(nym.NominymError, match="by name"):
        nym.Study(FRAME, nym.RankSwap(k=2), MEANINGS)
    with pytest.raises(nym.NominymError, match="'a': a table, item sets"):
        nym.Study({"a": 3}, nym.RankSwap(k=2), MEANINGS)
    with pytest.raises(nym.NominymError, match="workers"):
        small().run(workers=0)
    with pytest.raises(nym.NominymError, match="was not run"):
        small().table("method", "measure")
    with pytest.raises(nym.NominymError, match="cannot be called 'data'"):
        small(methods=[partial(named, data=3)])


def named(frame: Any, meanings: Any, seed: int, data: int = 0) -> Any:
    return frame


# ---- item sets, own measures, grids


def test_item_sets_are_data_too() -> None:
    sets = nym.datasets.baskets(120, seed=1, items=30)[0]
    labels = np.arange(120) % 7
    data = {"baskets": sets, "labelled": (sets, labels), "visits": FRAME}
    found = nym.Study(data, {"recode": nym.study.grid(nym.Recode, k=[2, 4]), "strict": nym.RankSwap(k=3)}, MEANINGS,
                      seeds=2).run()  # fmt: skip
    assert not found["error"].any()
    assert set(found.loc[found["method"] == "strict", "data"]) == {"visits"}
    assert set(found.loc[found["method"] == "recode", "data"]) == {"baskets", "labelled"}
    part = found[(found["data"] == "baskets") & (found["k"] == 4) & (found["seed"] == 1)].set_index("measure")["value"]
    by_hand = nym.recode(sets, k=4, seed=1)
    assert part["error_rate"] == by_hand.error_rate(expected=True)
    assert part["query_error_absent"] == by_hand.query_error("absent", seed=1)
    # A method of one's own may return the records themselves.
    same = nym.Study({"baskets": sets}, {"same": lambda sets, labels, seed: sets}, seeds=1).run()
    assert set(same["value"]) == {0.0}


def test_own_measures_get_everything() -> None:
    def held(outcome: nym.study.Outcome) -> dict[str, float]:
        assert outcome.original is FRAME
        assert list(outcome.meanings) == list(COLUMNS)
        same = outcome.masked["sex"].equals(outcome.original["sex"])
        return {"": len(outcome.comparison), "sex kept": same}

    found = small(measures={"held": held, "moved": "rmse"}).run()
    assert set(found["measure"]) == {"held", "held[sex kept]", "moved", "moved[diagnosis]", "moved[procedure]"}
    assert set(found.loc[found["measure"] == "held", "value"]) == {120.0}
    assert set(found.loc[found["measure"] == "held[sex kept]", "value"]) == {1.0}


def test_every_measure_measures() -> None:
    tables = [name for name, each in nym.study.MEASURES.items() if each.of != "sets"]
    found = small(methods=[nym.RankSwap(k=5)], measures=tables, seeds=1).run()
    assert not found["error"].any()
    assert {name.partition("[")[0] for name in found["measure"]} == set(tables)
    summary = nym.add_noise(FRAME, MEANINGS, alpha=0.5, seed=0).secret.summary["attributes"]["diagnosis"]
    noise = small(methods=[nym.Noise(alpha=0.5)], measures=["mean_distance", "variance_change"], seeds=1).run()
    values = noise.set_index("measure")["value"]
    assert values["mean_distance[diagnosis]"] == summary["mean_distance"]
    change = summary["variance_after"] - summary["variance_before"]
    assert math.isclose(values["variance_change[diagnosis]"], change, abs_tol=1e-12)
    one = small(meanings={"diagnosis": MEANINGS["diagnosis"]}, methods=[reverse], measures=tables[:3], seeds=1).run()
    assert set(one["measure"]) == {"rmse", "rmse[diagnosis]", "unchanged", "unchanged[diagnosis]"}


def test_grids() -> None:
    assert nym.study.grid(nym.Noise, alpha=[0.1, 0.5], correlated=[True, False])[1] == nym.Noise(0.1, correlated=False)
    own = nym.study.grid(named, data=[1, 2])
    assert [each.keywords for each in own] == [{"data": 1}, {"data": 2}]
    found = small(methods=nym.study.grid(nym.RankSwap, k=[2, 3], method=["records", "dynamic"]), seeds=1).run()
    assert set(found["method"]) == {"RankSwap(method='records')", "RankSwap(method='dynamic')"}
    assert set(found["k"]) == {2, 3}


# ---- keys


def test_digests_are_of_content() -> None:
    sets = nym.Itemsets.from_lists([[1, 2], [3]])
    assert digest(sets) == digest(nym.Itemsets.from_lists([[1, 2], [3]])) != digest(nym.Itemsets.from_lists([[1], [3]]))
    assert digest(FRAME) == digest(FRAME.copy()) != digest(FRAME.iloc[::-1])
    assert digest(FRAME.astype(object)) != digest(FRAME.rename(columns={"sex": "gender"}))
    taxonomies = [nym.Taxonomy.from_edges([("a", "b"), ("c", above)]) for above in ("b", "b", "a")]
    assert digest(taxonomies[0]) == digest(taxonomies[1]) != digest(taxonomies[2])
    matrices = [nym.DistanceMatrix([[0, far], [far, 0]], ["a", "b"]) for far in (1, 1, 2)]
    assert digest(matrices[0]) == digest(matrices[1]) != digest(matrices[2])
    assert digest(nym.Order()) != digest(nym.Equality()) != digest(nym.Order([1, 2]))
    assert digest(nym.RankSwap(k=2)) == digest(nym.RankSwap(k=2)) != digest(nym.RankSwap(k=3))
    orders = [nym.Recode(k=2, order=order) for order in ([0, 1], [0, 1], [1, 0])]
    assert digest(orders[0]) == digest(orders[1]) != digest(orders[2])
    assert len({digest(part) for part in (1, 1.0, "1", True, None, (1,), {1: 1}, {1}, b"1", np.array([1]))}) == 10


def adding(n: int) -> Any:
    return lambda x: x + n


def test_digests_of_functions_follow_their_code() -> None:
    def make(text: str, **known: Any) -> Any:
        space: dict[str, Any] = {"__name__": "study", **known}
        exec(text, space)
        return space["f"]

    plain = "def f(x):\n    return x + 1"
    assert digest(make(plain)) == digest(make(plain)) != digest(make(plain.replace("1", "2")))
    constant = "def f(x):\n    return x + K"
    assert digest(make(constant, K=1)) == digest(make(constant, K=1)) != digest(make(constant, K=2))
    helped = "def g(x):\n    return x * 2\ndef f(x):\n    return g(x)"
    assert digest(make(helped)) == digest(make(helped)) != digest(make(helped.replace("2", "3")))
    closing = [adding(n) for n in (1, 1, 2)]
    assert digest(closing[0]) == digest(closing[1]) != digest(closing[2])
    circle = "def f(x):\n    return g(x)\ndef g(x):\n    return f(x)"
    assert digest(make(circle)) == digest(make(circle))
    assert digest(partial(reverse, seed=1)) != digest(partial(reverse, seed=2))
