"""A release, its manifest and its key: all or nothing, in an order that a crash cannot hide."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import nominym as nym
from nominym.atomic import Draft, write_atomic
from nominym.error import DataError, FormatError, ParameterError
from nominym.release import Manifest, publish
from nominym.release.publish import check_targets

MADE = Manifest(command="swap", params={"k": 3}, achieved={"bound": 1 / 3})
ROWS = np.array([1, 0, 2], dtype=np.uint32)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(draft: Path) -> None:
    draft.write_text("x\na\nb\nc\n")


def test_three_files(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    said = publish(path, write, MADE, output={"rows": 3}, rows=ROWS, key=tmp_path / "key.parquet")
    assert names(tmp_path) == ["key.parquet", "r.csv", "r.csv.manifest.json"]
    assert said.output["name"] == "r.csv"
    assert said.output["rows"] == 3
    assert nym.release.read_manifest(path) == nym.release.read_manifest(tmp_path / "r.csv.manifest.json") == said
    said.check(path)
    assert nym.release.read_key(tmp_path / "key.parquet", path, 3).tolist() == [1, 0, 2]
    with pytest.raises(DataError, match="of another input"):
        nym.release.read_key(tmp_path / "key.parquet", path, 4)
    with pytest.raises(FormatError, match="is no key"):
        nym.release.read_key(path, path, 3)
    mode = stat.S_IMODE((tmp_path / "key.parquet").stat().st_mode)
    assert mode == 0o600


def test_an_error_while_writing_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("old")

    def fail(draft: Path) -> None:
        draft.write_text("half of")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        publish(path, fail, MADE, overwrite=True)
    assert names(tmp_path) == ["r.csv"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_crash_between_the_names_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    path = tmp_path / "r.csv"
    path.write_text("old")
    left = [steps]
    given_name = Draft.publish

    def crash(self: Draft) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        given_name(self)

    monkeypatch.setattr(Draft, "publish", crash)
    with pytest.raises(KeyboardInterrupt):
        publish(path, write, MADE, rows=ROWS, key=tmp_path / "key.parquet", overwrite=True)
    # The data come last: there is never a new release without its manifest and its key.
    assert path.read_text() == "old"
    assert len(names(tmp_path)) == 1 + steps
    if steps == 2:
        with pytest.raises(DataError, match="its writing was cut short"):
            nym.release.read_manifest(path).check(path)


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


def test_targets_are_checked_before_any_work(tmp_path: Path) -> None:
    given = tmp_path / "a.csv"
    given.write_text("x\n")
    with pytest.raises(ParameterError, match="is the input"):
        check_targets(given, [given], None, overwrite=False)
    check_targets(given, [given], None, overwrite=True)
    (tmp_path / "link.csv").hardlink_to(given)
    with pytest.raises(ParameterError, match="is the input"):
        check_targets(tmp_path / "link.csv", [given], None, overwrite=False)
    with pytest.raises(ParameterError, match="is an input"):
        check_targets(tmp_path / "b.csv", [given], given, overwrite=True)
    with pytest.raises(ParameterError, match="a file of its own"):
        check_targets(tmp_path / "b.csv", [given], tmp_path / "b.csv", overwrite=True)
    with pytest.raises(IsADirectoryError):
        check_targets(tmp_path, [given], None, overwrite=True)
    (tmp_path / "b.csv.manifest.json").write_text("{}")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        check_targets(tmp_path / "b.csv", [given], None, overwrite=False)


def test_what_is_no_manifest(tmp_path: Path) -> None:
    path = tmp_path / "r.csv.manifest.json"
    for text, told in (("[", "no manifest"), ("{}", "no manifest"), ("[]", "no manifest"), (
        '{"format": "nominym-manifest", "format_version": 9}', "version 9"), (
        '{"format": "nominym-manifest", "format_version": 1}', "not a whole manifest")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(FormatError, match=told):
            nym.release.read_manifest(tmp_path / "r.csv")
    with pytest.raises(FileNotFoundError):
        nym.release.read_manifest(tmp_path / "other.csv")
