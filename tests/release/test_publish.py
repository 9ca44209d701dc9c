"""The pipeline: one release from Python and from the shell, all or nothing, in an order that a crash cannot hide."""

from __future__ import annotations

import errno
import json
import os
import pickle
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nominym as nym
from commands import Run
from nominym.atomic import Draft, write_atomic
from nominym.error import DataError, FormatError, ParameterError, UnknownColumnError
from nominym.files import Watched
from nominym.release import MeaningFile, files

ROLES = {"name": "identifier", "diagnosis": "quasi-identifier", "ward": "keep", "cost": "keep"}
METHOD = nym.RankSwap(k=5)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name not in ("visits.csv", "illness.csv"))


def publish(target: Any, source: Any = "visits.csv", roles: Any = ROLES, **options: Any) -> nym.release.Publication:
    return nym.publish(source, target, roles, METHOD, {"diagnosis": "illness.csv"}, **options)


def read(path: str) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_three_files(folder: Path) -> None:
    made = publish("r.csv", key="key.parquet")
    assert names(folder) == ["key.parquet", "r.csv", "r.csv.manifest.json"]
    assert made.paths == (Path("r.csv"), Path("r.csv.manifest.json"), Path("key.parquet"))
    said = made.manifest
    assert (said.output["name"], said.output["rows"], said.output["columns"]) == ("r.csv", 60, 3)
    assert nym.release.read_manifest("r.csv") == nym.release.read_manifest("r.csv.manifest.json")
    assert json.loads(nym.release.read_manifest("r.csv").to_json()) == json.loads(said.to_json())
    said.check("r.csv")
    rows = nym.release.read_record("key.parquet", "r.csv", 60).rows
    assert list(read("r.csv")["cost"].to_numpy()[rows]) == list(read("visits.csv")["cost"])
    with pytest.raises(DataError, match="of another input"):
        nym.release.read_record("key.parquet", "r.csv", 61)
    with pytest.raises(FormatError, match="is not an owner's record"):
        nym.release.read_record("r.csv", "r.csv", 60)
    mode = stat.S_IMODE(Path("key.parquet").stat().st_mode)
    assert mode == 0o600
    # The result goes on: attacks use what is coded already; what is given away has no secret.
    assert made.result.linkage().holds_masked
    assert pickle.loads(pickle.dumps(made.result)).secret is None
    assert b"key.parquet" not in pickle.dumps(made)
    assert pickle.loads(pickle.dumps(made)).paths.release == Path("r.csv")


def test_the_owners_record_is_made_on_request_only(folder: Path) -> None:
    publish("r.csv")
    assert names(folder) == ["r.csv", "r.csv.manifest.json"]


def test_python_and_the_shell_make_the_same_release(run: Run) -> None:
    roles = ("--identifier", "name", "--quasi", "diagnosis=illness.csv", "--keep", "ward", "--keep", "cost")
    done = run("swap", "visits.csv", "-o", "shell.csv", *roles, "--k", 5, "--seed", 3)
    assert done.code == 0, done.err
    frame = read("visits.csv")
    tables = {
        "file": "visits.csv",
        "pandas": frame,
        "index": frame.set_index(frame["cost"].astype(int)),
        "categories": frame.astype("category"),
        "arrow": pa.Table.from_pandas(frame),
        "stream": pa.Table.from_pandas(frame).to_reader(),
        "mapping": {name: frame[name].tolist() for name in frame},
    }
    for name, table in tables.items():
        publish(f"{name}.csv", table, seed=3)
        assert Path(f"{name}.csv").read_bytes() == Path("shell.csv").read_bytes(), name
        said, shell = (nym.release.read_manifest(path) for path in (f"{name}.csv", "shell.csv"))
        assert (said.params, said.summary, said.roles) == (shell.params, shell.summary, shell.roles)


def test_item_sets_and_columns_of_lists_make_the_same_release(folder: Path) -> None:
    sets, labels = nym.datasets.baskets(100, seed=1, items=30, labels=12)
    sets.to_fimi("baskets.dat")
    Path("labels.txt").write_text("\n".join(map(str, labels)) + "\n")
    method = nym.Recode(k=4, order="gray")
    frame = pd.DataFrame({"items": sets.to_lists(), "label": list(map(str, labels)), "name": "x"})
    nym.publish("baskets.dat", "a.txt", None, method, seed=2, label="labels.txt")
    nym.publish(frame, "b.txt", None, method, seed=2, label="label", column="items")
    assert Path("a.txt").read_bytes() == Path("b.txt").read_bytes()
    assert "not part of the release: name" in nym.release.read_manifest("b.txt").notes
    made = nym.publish(nym.Itemsets.from_fimi("baskets.dat"), "c.parquet", None, method, label=labels, key="c.key")
    record = nym.release.read_record("c.key", "c.parquet", 100)
    assert len(record.input.pop("labels")) == 64
    assert record.input == {"rows": 100, "items": made.result.base.n_items}
    assert made.result.labels[record.rows[0]] == labels[0]
    with pytest.raises(ParameterError, match="item sets have no roles"):
        nym.publish(sets, "d.txt", ROLES, method)
    with pytest.raises(ParameterError, match="give a Recode"):
        publish("d.csv", sets)
    with pytest.raises(ParameterError, match=r"column=: name the column .* that holds lists"):
        nym.publish(frame, "d.txt", None, method)


def test_a_file_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    counted = [0]
    init, read_bytes = Watched.__init__, Watched.read

    def open_(self: Watched, path: Any) -> None:
        opened.append(Path(path).name)
        init(self, path)

    def read_(self: Watched, size: int = -1) -> bytes:
        data = read_bytes(self, size)
        counted[0] += len(data) if opened[-1] == "visits.csv" else 0
        return data

    monkeypatch.setattr(Watched, "__init__", open_)
    monkeypatch.setattr(Watched, "read", read_)
    synced: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(os.fstat(file).st_ino), fsync(file))[1])
    publish("r.csv", key="key.parquet")
    assert opened.count("visits.csv") == 1
    assert counted[0] == Path("visits.csv").stat().st_size
    # Data, manifest and record are brought to the disk, each once.
    for name in ("r.csv", "r.csv.manifest.json", "key.parquet"):
        assert synced.count(Path(name).stat().st_ino) == 1


def test_every_column_needs_a_role(folder: Path) -> None:
    for roles, error, told in (
        ({"name": "identifier", "diagnosis": "quasi-identifier"}, ParameterError, "2 columns have no role: 'ward', 'c"),
        ({**ROLES, "diagnoses": "keep"}, UnknownColumnError, "no column 'diagnoses'; did you mean 'diagnosis'"),
        ({**ROLES, "name": "id"}, ParameterError, "column 'name': role 'id' is unknown; give identifier"),
        (None, ParameterError, "roles=: a mapping from column names to roles"),
        ({**ROLES, "diagnosis": "keep"}, ParameterError, "no column is masked"),
        ({**ROLES, "ward": "quasi-identifier"}, ParameterError, "column 'ward': it has no meaning"),
    ):
        with pytest.raises(error, match=told):
            publish("r.csv", roles=roles)
    with pytest.raises(ParameterError, match=r"roles=\{'ward': 'identifier', 'cost': 'identifier'\}"):
        publish("r.csv", roles={"name": "identifier", "diagnosis": "quasi-identifier"})
    with pytest.raises(ParameterError, match="method=: a RankSwap"):
        nym.publish("visits.csv", "r.csv", ROLES, "swap", {"diagnosis": "illness.csv"})  # type: ignore[arg-type]
    assert names(folder) == []


def test_meanings_in_files(folder: Path) -> None:
    tax = nym.read_taxonomy("illness.csv")
    made = nym.publish(
        "visits.csv", "r.csv", ROLES, METHOD, {"diagnosis": MeaningFile("illness.csv", "edges")}, overwrite=True
    )
    assert made.manifest.meanings["diagnosis"]["name"] == "illness.csv"
    other = nym.publish("visits.csv", "r.csv", ROLES, METHOD, {"diagnosis": tax}, overwrite=True)
    assert "name" not in other.manifest.meanings["diagnosis"]
    assert other.manifest.meanings["diagnosis"]["sha256"] == made.manifest.meanings["diagnosis"]["sha256"]


@pytest.mark.parametrize(
    "method",
    [
        nym.RankSwap(k=5, measure=nym.Measure("lin", ic="sanchez"), roots={"diagnosis": "illness"}),
        nym.RankSwap(k=3, method="fixed", correlations=True),
        nym.Noise(alpha=0.3, correlated=False),
        nym.Noise(method="exponential", epsilon=2.0),
        nym.DataSwap(rate=0.2, equal=["ward"], mode="sequential"),
    ],
    ids=repr,
)
def test_the_manifest_has_the_method(folder: Path, method: Any) -> None:
    nym.publish("visits.csv", "r.csv", ROLES, method, {"diagnosis": "illness.csv"}, key="key.parquet")
    assert nym.release.read_manifest("r.csv").method == method
    pair = nym.release.compare_files("visits.csv", "r.csv", {"diagnosis": "illness.csv"}, key="key.parquet")
    realised = nym.release.read_record("key.parquet", "r.csv", 60).summary["attributes"]["diagnosis"]
    assert pair.comparison.changes["diagnosis"].unchanged == pytest.approx(realised["unchanged"])
    if "rmse" in realised:
        assert pair.comparison.changes["diagnosis"].rmse == pytest.approx(realised["rmse"])
    assert not pair.seeded
    assert pair.secret_summary is not None


def test_counts_of_a_corpus_are_not_kept(folder: Path) -> None:
    counts = dict.fromkeys(nym.read_taxonomy("illness.csv").ids, 1)
    method = nym.RankSwap(k=5, measure=nym.Measure("lin", ic=counts))
    nym.publish("visits.csv", "r.csv", ROLES, method, {"diagnosis": "illness.csv"})
    with pytest.raises(ParameterError, match="counts of a corpus, which a manifest does not store"):
        _ = nym.release.read_manifest("r.csv").method


def test_an_error_while_writing_leaves_what_was_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("r.csv").write_text("old")

    def fail(table: Any, draft: Path, *_: Any) -> None:
        draft.write_text("half of")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_draft", fail)
    with pytest.raises(OSError, match="No space"):
        publish("r.csv", overwrite=True, key="key.parquet")
    assert names(folder) == ["r.csv"]
    assert Path("r.csv").read_text() == "old"


@pytest.mark.parametrize("nameless", [True, False])
def test_drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nameless: bool) -> None:
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    old = os.umask(0o022)
    try:
        draft = Draft(tmp_path / "a.txt")
        draft.path.write_text("new")
        assert len(names(tmp_path)) == (0 if nameless and hasattr(os, "O_TMPFILE") else 1)
        draft.publish()
    finally:
        os.umask(old)
    draft.discard()
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o644
    with suppress(LookupError), write_atomic(tmp_path / "a.txt") as file:
        file.write(b"half")
        raise LookupError
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "new"


def test_targets_are_checked_before_any_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nym.RankSwap, "apply", lambda *_: pytest.fail("too late"))
    with pytest.raises(ParameterError, match="is an input"):
        publish("visits.csv")
    Path("link.csv").hardlink_to("visits.csv")
    with pytest.raises(ParameterError, match="is an input"):
        publish("link.csv")
    for key in ("visits.csv", "illness.csv"):
        with pytest.raises(ParameterError, match="is an input"):
            publish("b.csv", key=key, overwrite=True)
    with pytest.raises(ParameterError, match="a file of its own"):
        publish("b.csv", key="b.csv", overwrite=True)
    Path("folder.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        publish("folder.csv", overwrite=True)
    Path("b.csv.manifest.json").write_text("{}")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        publish("b.csv")


def test_what_is_no_manifest(tmp_path: Path) -> None:
    path = tmp_path / "r.csv.manifest.json"
    start = '{"format": "nominym-manifest", "format_version": '
    for text, told in (
        ("[", "not a manifest"),
        ("{}", "not a manifest"),
        ("[]", "not a manifest"),
        (f"{start}3}}", "version 3"),
        (f"{start}4}}", "was damaged"),
        (f'{start}4, "command": "swap", "summary": 3}}', "was damaged"),
    ):
        path.write_text(text)
        with pytest.raises(FormatError, match=told):
            nym.release.read_manifest(tmp_path / "r.csv")
    with pytest.raises(FileNotFoundError):
        nym.release.read_manifest(tmp_path / "other.csv")
    for said in (("mine",), ("swap", {"kk": 3}), ("swap", {"k": "x"})):
        with pytest.raises(FormatError, match="the manifest"):
            _ = nym.release.Manifest(*said).method


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for name, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(part, (*path, name))


@pytest.mark.parametrize("method", [METHOD, nym.RankSwap(k=5, guarantee="published"), nym.Noise(alpha=0.3)])
def test_damaged_manifests(folder: Path, method: Any) -> None:
    """Whatever is changed in a manifest, the error names the file."""
    nym.publish("visits.csv", "r.csv", ROLES, method, {"diagnosis": "illness.csv"})
    path, random = Path("r.csv.manifest.json"), np.random.default_rng(1)
    text, tried = path.read_text(), 0
    others = [None, True, -1, 0, 3, 2.5, 10**400, "", "x", "diagnosis", [], ["swap"], [3], {}, {"x": []}, float("inf")]
    for place in list(_places(json.loads(text)))[1:]:
        for _ in range(4):
            content = json.loads(text)
            inside = content
            for name in place[:-1]:
                inside = inside[name]
            match int(random.integers(5)):
                case 0:
                    del inside[place[-1]]
                case 1 if isinstance(inside, dict):
                    inside["y"] = inside.pop(place[-1])
                case _:
                    inside[place[-1]] = others[random.integers(len(others))]
            path.write_text(json.dumps(content))
            if content == json.loads(text):
                continue
            with pytest.raises(FormatError, match=r"r\.csv\.manifest\.json"):
                nym.release.compare_files("visits.csv", "r.csv", {"diagnosis": "illness.csv"})
            tried += 1
    assert tried > 100
    path.write_text(json.dumps(json.loads(text)))  # another layout says the same
    assert nym.release.read_manifest("r.csv").method == method


def test_methods_in_damaged_files(run: Run) -> None:
    publish("r.csv", key="key.parquet")
    path = Path("r.csv.manifest.json")
    text = path.read_text()
    for old, new in (('"k": 5', '"k": "x"'), ('"command": "swap"', '"command": ["swap"]')):
        path.write_text(text.replace(old, new))
        done = run("audit", "visits.csv", "r.csv", "--quasi", "diagnosis=illness.csv", "--key", "key.parquet")
        assert done.code == 3
        assert done.err.startswith("error: r.csv.manifest.json was damaged")
    Path("r.toml").write_text('[method]\ncommand = ["swap"]\n')
    assert run("swap", "--config", "r.toml").code == 2
    path.write_text(text)
    held = pq.read_table("key.parquet")
    about = json.loads(held.schema.metadata[b"nominym-record"])
    for changed in ({"input": [1]}, {"input": 3}, {"summary": []}, {"summary": {"groups": {"sizes": 3}}}):
        pq.write_table(held.replace_schema_metadata({"nominym-record": json.dumps(about | changed)}), "key.parquet")
        with pytest.raises(FormatError, match=r"key\.parquet (is not an owner's record|was damaged)"):
            nym.release.read_record("key.parquet", "r.csv", 60)


BROKEN = "half \udc80"


@pytest.mark.parametrize(
    "given",
    [{"na": 5}, {"na": [5]}, {"key": ["k"]}, {"key": "k\0"}, {"target": "r\0.csv"}, {"source": "v\0.csv"},
     {"label": "ward"}, {"column": "ward"}, {"encoding": ["utf-8"]}, {"encoding": "punycode"}, {"delimiter": [","]},
     {"encoding": "undefined"}, {"encoding": "idna"}, {"target": 5}, {"target": f"{BROKEN}.csv"}],
)  # fmt: skip
def test_settings_without_a_meaning(folder: Path, given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        publish(**{"target": "r.csv", **given})
    assert names(folder) == []


def test_half_characters(folder: Path) -> None:
    ills = ["flu", "cold", "cough", "fever"]
    flu = nym.Taxonomy.from_edges([(ill, "ill") for ill in ills])
    for frame in ({"a": ills, BROKEN: ["x", "x", "y", "y"]}, {"a": ills, "b": ["x", "x", BROKEN, BROKEN]}):
        roles = {"a": "quasi-identifier"} | dict.fromkeys(list(frame)[1:], "keep")
        with pytest.raises(DataError, match=r"UTF-8|Unicode|surrogates"):
            nym.publish(frame, "r.csv", roles, nym.RankSwap(k=2), {"a": flu})
    assert names(folder) == []
    res = nym.rank_swap({"a": ills, BROKEN: ["x", "x", "y", "y"]}, {"a": flu}, k=2)
    for edition in ("publication", "owner"):
        with pytest.raises(DataError, match="cannot be written as UTF-8"):
            res.report("r.html", edition=edition)
    res = nym.rank_swap({"a": ["flu", "cold"]}, {"a": flu}, k=2)
    with pytest.raises(DataError, match="cannot be written as UTF-8"):
        res.report("r.html", title=BROKEN)
    assert stat.S_IMODE(res.report("o.html", edition="owner").stat().st_mode) == 0o600


def test_one_text_for_missing(folder: Path) -> None:
    Path("visits.csv").write_text(Path("visits.csv").read_text().replace(",burn,", ",NA,"))
    missing = publish("r.csv", na="NA").manifest.summary["attributes"]["diagnosis"]["missing"]
    assert missing == Path("visits.csv").read_text().count(",NA,") > 0


def test_missing_values_are_named_by_the_row_of_the_input(folder: Path) -> None:
    Path("visits.csv").write_text(Path("visits.csv").read_text().replace("P042,sprain", "P042,"))
    for seed in range(3):
        with pytest.raises(nym.error.MissingValueError, match="the first in row 42"):
            nym.publish("visits.csv", "r.csv", ROLES, nym.RankSwap(k=5, missing="error"), {"diagnosis": "illness.csv"},
                        seed=seed)  # fmt: skip


def test_records_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "key.parquet"
    (tmp_path / "r.csv").write_text("x\na\n")
    for table in (pa.table({"row": [0]}), pa.table({"a": [0]}).replace_schema_metadata({"nominym-record": "{}"})):
        pq.write_table(table, path)
        with pytest.raises(FormatError, match="is not an owner's record"):
            nym.release.read_record(path, tmp_path / "r.csv", 1)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match="is not an owner's record"):
        nym.release.read_record(path, tmp_path / "r.csv", 1)
    with pytest.raises(FileNotFoundError):
        nym.release.read_record(tmp_path / "absent", tmp_path / "r.csv", 1)


def test_a_release_keeps_the_types_of_a_frame(folder: Path) -> None:
    frame = pd.DataFrame(
        {
            "diagnosis": pd.Categorical(["flu", "cold", "burn", "sprain"] * 5),
            "ward": pd.Categorical(["low", "high"] * 10, ["low", "high", "never"], ordered=True),
            "cost": np.arange(20) // 4 % 2 / 2,
        }
    )
    roles = {"diagnosis": "quasi-identifier", "ward": "keep", "cost": "keep"}
    nym.publish(frame, "r.parquet", roles, nym.RankSwap(k=6), {"diagnosis": "illness.csv"})
    after = pd.read_parquet("r.parquet")
    assert after["cost"].dtype == float
    assert after["diagnosis"].dtype.name == "category"
    assert after["ward"].dtype.ordered
    # A value that no record has is not told.
    assert "never" not in set(after["ward"].cat.categories)
