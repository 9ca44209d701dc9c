"""A release is published whole or not at all: at every call of the system, by every signal, and whoever looks next."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

import nominym as nym
from commands import ROLES as OPTIONS
from commands import Run
from nominym import atomic, journal
from nominym.error import CutShortError, FormatError, ParameterError, RecoveryWarning

FAULTS = Path(__file__).with_name("faults.py")


@pytest.mark.parametrize(
    ("kind", "before", "drafts"),
    [
        ("SIGKILL", "old", "nameless"),
        ("SIGKILL", "fresh", "nameless"),
        ("SIGKILL", "old", "named"),
        ("SIGKILL+SIGKILL", "old", "nameless"),
        ("SIGTERM", "old", "nameless"),
        ("SIGINT", "old", "named"),
        ("SIGHUP", "fresh", "nameless"),
        ("error", "old", "nameless"),
        ("error", "fresh", "named"),
        ("error+SIGKILL", "old", "nameless"),
    ],
)
def test_a_fault_at_every_call(kind: str, before: str, drafts: str) -> None:
    done = subprocess.run([sys.executable, FAULTS, kind, before, drafts], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["points"] > 150
    assert min(found["old"], found["new"]) > 20
    # What can be caught leaves nothing for the next command to do.
    assert (found["recovered"] == 0) == (kind in ("SIGTERM", "SIGINT", "SIGHUP"))


SWAP = ["swap", "visits.csv", "-o", "out/release.csv", "--key", "secret/key", *OPTIONS, "--k", "5", "--overwrite"]


def stopped_at(call: str, number: int, name: str = "SIGKILL") -> int:
    """Run a command that gets a signal at one of its system calls."""
    inject = [shutil.which("strace") or "", "--quiet=all", "-f", "-o", os.devnull, "-e", f"trace={call}",
              "-e", f"inject={call}:signal={name}:when={number}"]  # fmt: skip
    done = subprocess.run([*inject, sys.executable, "-m", "nominym", *SWAP], capture_output=True, timeout=120)
    return done.returncode


def can_trace() -> bool:
    command = shutil.which("strace")
    return command is not None and subprocess.call([command, "-o", os.devnull, "true"], stderr=subprocess.DEVNULL) == 0


@pytest.mark.skipif(not can_trace(), reason="strace is not installed, or not allowed here")
@pytest.mark.parametrize(("call", "most"), [("linkat", 6), ("/^rename", 4), ("flock", 4), ("/^unlink", 8)])
def test_a_command_killed_at_a_system_call(run: Run, tmp_path: Path, call: str, most: int) -> None:
    for folder in ("out", "secret"):
        Path(folder).mkdir()
    audit = ("audit", "visits.csv", "out/release.csv", "--key", "secret/key", "--quasi", "diagnosis=illness.csv",
             "--unknown", "ward", "--unknown", "cost")  # fmt: skip
    kept = {"release.csv", "release.csv.manifest.json", "key"}
    assert run(*SWAP).code == 0
    killed = 0
    for number in range(1, most + 1):
        before = [path.read_bytes() for path in sorted(tmp_path.glob("*/*")) if path.name in kept]
        killed += stopped_at(call, number) != 0
        # The next command that looks sets it right, and finds three files that belong together.
        done = run(*audit)
        assert done.code == 0, (call, number, done.err)
        left = sorted(tmp_path.glob("*/*"))
        assert {path.name for path in left} == kept, (call, number)
        same = [path.read_bytes() == old for path, old in zip(left, before, strict=True)]
        assert len(set(same)) == 1, (call, number, same)
    assert killed


# ---- the next command

NAMES = ("key", "release.csv.manifest.json", "release.csv")
JOURNAL = Path(".release.csv.nym")


class Killed(BaseException):
    """Stands for the end of the process."""


def cut_short(monkeypatch: pytest.MonkeyPatch, state: str, placed: int = 0, before: str | None = "old") -> None:
    """Leave a publication behind as a process does that is killed in a state, with so many files in their places."""
    for name in NAMES if before is not None else ():
        Path(name).write_text(str(before))
    drafts = [atomic.Draft(name) for name in NAMES]
    for draft in drafts:
        draft.path.write_text("new")
    enter, put, left = journal._Journal.enter, journal._File.put, [placed]

    def entered(self: journal._Journal, to: str) -> None:
        if (state, to) in (("begun", "marked"), ("marked", "ready")):
            raise Killed
        enter(self, to)
        if to == state == "done":
            raise Killed

    def counted(self: journal._File, source: Path, replaces: bool) -> None:
        if not left[0] and state == "ready":
            raise Killed
        left[0] -= 1
        put(self, source, replaces)

    with monkeypatch.context() as patched:
        patched.setattr(journal._Journal, "undo", lambda self, why: None)
        patched.setattr(journal._Journal, "enter", entered)
        patched.setattr(journal._File, "put", counted)
        with pytest.raises(Killed):
            journal.publish(drafts, overwrite=True)
    for draft in drafts:
        draft.discard()
    assert JOURNAL.exists()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("before", ["old", None])
@pytest.mark.parametrize(
    ("state", "placed"), [("begun", 0), ("marked", 0), ("ready", 0), ("ready", 1), ("ready", 2), ("done", 3)]
)
def test_whoever_looks_next_sets_it_right(
    here: Path, monkeypatch: pytest.MonkeyPatch, state: str, placed: int, before: str | None
) -> None:
    cut_short(monkeypatch, state, placed, before)
    done = (
        "undone: the files are as they were before"
        if state in ("begun", "marked")
        else "finished: the files are the new ones"
    )
    with pytest.warns(RecoveryWarning, match=f"the publication of release.csv was interrupted; it has been {done}"):
        journal.recover("release.csv")
    left = {name: Path(name).read_text() for name in names(here)}
    expected = before if state in ("begun", "marked") else "new"
    assert left == ({} if expected is None else dict.fromkeys(NAMES, expected))
    journal.recover("release.csv")


@pytest.mark.parametrize(
    "look",
    [
        lambda: nym.release.read_manifest("release.csv"),
        lambda: nym.release.read_manifest("release.csv.manifest.json"),
        lambda: nym.release.read_table("release.csv"),
        lambda: nym.itemsets.read_release("release.csv"),
        lambda: nym.release.compare_files("visits.csv", "release.csv"),
        lambda: nym.publish("release.csv", "other.csv", {}, nym.RankSwap(k=2)),
        lambda: nym.publish({"a": ["b"]}, "release.csv", {"a": "quasi-identifier"}, nym.DataSwap(0.5), overwrite=True),
    ],
)
def test_who_looks(here: Path, monkeypatch: pytest.MonkeyPatch, look: Callable[[], object]) -> None:
    cut_short(monkeypatch, "ready")
    with pytest.warns(RecoveryWarning), suppress(nym.NominymError, OSError):
        look()
    assert not JOURNAL.exists()


def test_a_folder_that_was_moved(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = here / "first"
    first.mkdir()
    monkeypatch.chdir(first)
    cut_short(monkeypatch, "ready", 1)
    first.rename(here / "second")
    with pytest.warns(RecoveryWarning, match="finished"):
        journal.recover(here / "second/release.csv")
    assert {path.read_text() for path in (here / "second").iterdir()} == {"new"}


@pytest.mark.parametrize("state", ["begun", "marked", "ready", "done"])
def test_a_copy_is_not_followed(here: Path, monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    """Whoever looks at a backup changes nothing: what it would finish, or undo, may be finished already."""
    for placed in range(3):
        folder = here / str(placed)
        folder.mkdir()
        monkeypatch.chdir(folder)
        cut_short(monkeypatch, state, placed)
        shutil.copytree(folder, folder / "copy")
        copied = {path.name: path.read_bytes() for path in Path("copy").iterdir()}
        for _ in range(2):
            with pytest.raises(CutShortError, match="is a copy of the journal"):
                journal.recover("copy/release.csv")
            with pytest.warns(RecoveryWarning) if JOURNAL.exists() else nullcontext():
                journal.recover("release.csv")
        expected = "old" if state in ("begun", "marked") else "new"
        assert {name: Path(name).read_text() for name in names(folder) - {"copy"}} == dict.fromkeys(NAMES, expected)
        assert {path.name: path.read_bytes() for path in Path("copy").iterdir()} == copied


@pytest.mark.parametrize("placed", [0, 1, 2])
@pytest.mark.parametrize("in_place", [True, False])
def test_what_somebody_else_changed_is_theirs(
    here: Path, monkeypatch: pytest.MonkeyPatch, placed: int, in_place: bool
) -> None:
    cut_short(monkeypatch, "ready", placed)
    if not in_place:
        Path("release.csv").unlink()
    Path("release.csv").write_text("theirs")
    with pytest.warns(RecoveryWarning, match=r"undone: .* except release\.csv, which somebody else changed"):
        journal.recover("release.csv")
    assert [Path(name).read_text() for name in NAMES] == ["old", "old", "theirs"]
    assert names(here) == set(NAMES)


def test_what_was_changed_after_the_end_stays(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_short(monkeypatch, "done", 3)
    Path("release.csv").write_text("edited")
    with pytest.warns(RecoveryWarning, match="finished"):
        journal.recover("release.csv")
    assert [Path(name).read_text() for name in NAMES] == ["new", "new", "edited"]


def test_a_target_that_cannot_be_replaced(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a folder where others own the file: nothing is published, and nothing lost."""
    for name in NAMES:
        Path(name).write_text("old")
    drafts = [atomic.Draft(name) for name in NAMES]
    replace = Path.replace

    def refused(self: Path, target: Path) -> Path:
        if target.name == "release.csv":
            raise PermissionError(1, "Operation not permitted", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refused)
    with atomic.noted() as written, pytest.raises(PermissionError):
        journal.publish(drafts, overwrite=True)
    assert not written
    assert {name: Path(name).read_text() for name in names(here)} == dict.fromkeys(NAMES, "old")


@pytest.mark.parametrize("links", [True, False])
def test_an_undo_that_is_cut_short(here: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    """What was begun to be undone is undone, however often that fails, also where files have one name only."""
    if not links:
        monkeypatch.setattr(os, "link", _no_links(os.link))
    left, replace = [0], Path.replace

    def failing(self: Path, target: Path) -> Path:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(5, "Input/output error", str(target))
        return replace(self, target)

    for fails in range(1, 8):
        for name in NAMES:
            Path(name).write_text("old")
        drafts = [atomic.Draft(name) for name in NAMES]
        for draft in drafts:
            draft.path.write_text("new")
        left[0] = 2
        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", failing)
            with pytest.raises(CutShortError, match="the next command that looks at the release continues"):
                journal.publish(drafts, overwrite=True)
            for times in range(fails % 3):
                left[0] = times
                with pytest.raises(CutShortError):
                    journal.recover("release.csv")
        with pytest.warns(RecoveryWarning, match="undone"):
            journal.recover("release.csv")
        assert {name: Path(name).read_text() for name in names(here)} == dict.fromkeys(NAMES, "old")


def _no_links(link: Callable[..., None]) -> Callable[..., None]:
    def refused(source: Path, target: Path, **how: Any) -> None:
        if str(source).startswith("/proc/"):  # drafts without a name get their first
            link(source, target, **how)
        else:
            raise PermissionError(1, "Operation not permitted", str(target))

    return refused


def test_a_fresh_release_without_links(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that fails on the way leaves nothing under the name of the release."""
    monkeypatch.setattr(os, "link", _no_links(os.link))
    copies = shutil.copyfileobj
    for at in range(1, 4):
        drafts = [atomic.Draft(name) for name in NAMES]
        left = [at]

        def full(source: Any, copy: Any, *size: Any, left: list[int] = left) -> None:
            left[0] -= 1
            if not left[0]:
                copy.write(b"a part")
                raise OSError(28, "No space left on device")
            copies(source, copy, *size)

        with monkeypatch.context() as patched:
            patched.setattr(shutil, "copyfileobj", full)
            with pytest.raises(OSError, match="No space left"):
                journal.publish(drafts, overwrite=False)
        assert names(here) == set()


def test_hidden_files_that_cannot_be_removed(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release is published all the same, and it is known."""
    unlink = Path.unlink

    def refused(self: Path, missing_ok: bool = False) -> None:
        if self.suffix == ".new":
            raise PermissionError(1, "Operation not permitted", str(self))
        unlink(self, missing_ok)

    drafts = [atomic.Draft(name) for name in NAMES]
    with monkeypatch.context() as patched, atomic.noted() as written:
        patched.setattr(Path, "unlink", refused)
        with pytest.warns(RecoveryWarning, match="is published; hidden files of its publication could not"):
            journal.publish(drafts, overwrite=False)
    assert len(written) == 3
    with pytest.warns(RecoveryWarning, match="finished"):
        journal.recover("release.csv")
    assert names(here) == set(NAMES)


def test_an_end_that_cannot_be_recorded(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is new, and stays so; but nobody is told that all is well."""
    enter = journal._Journal.enter

    def full(self: journal._Journal, to: str) -> None:
        if to == "done":
            raise OSError(28, "No space left on device")
        enter(self, to)

    drafts = [atomic.Draft(name) for name in NAMES]
    with monkeypatch.context() as patched:
        patched.setattr(journal._Journal, "enter", full)
        with pytest.raises(CutShortError, match="all files are in their places, but that cannot be recorded"):
            journal.publish(drafts, overwrite=False)
        with pytest.raises(CutShortError):
            journal.recover("release.csv")
    with pytest.warns(RecoveryWarning, match="finished"):
        journal.recover("release.csv")
    assert names(here) == set(NAMES)


@pytest.mark.parametrize("state", ["marked", "ready", "done"])
def test_a_copy_by_hard_links_is_not_followed(here: Path, monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    first, second = here / "first", here / "second"
    first.mkdir()
    second.mkdir()
    monkeypatch.chdir(first)
    cut_short(monkeypatch, state, 1)
    for path in first.iterdir():
        (second / path.name).hardlink_to(path)
    for folder in (second, first):
        with pytest.raises(CutShortError, match="is a copy of the journal"):
            journal.recover(folder / "release.csv")
    shutil.rmtree(second)
    with pytest.warns(RecoveryWarning, match="undone" if state == "marked" else "finished"):
        journal.recover("release.csv")
    assert {path.read_text() for path in first.iterdir()} == {"old" if state == "marked" else "new"}


def test_the_mode_is_new_too(here: Path) -> None:
    for mode in (0o644, 0o600):
        drafts = [atomic.Draft(name, mode) for name in NAMES]
        journal.publish(drafts, overwrite=True)
        assert {stat.S_IMODE(Path(name).stat().st_mode) for name in NAMES} == {mode}


def test_a_release_by_another_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_short(monkeypatch, "ready")
    Path("folder").mkdir()
    Path("folder/latest.csv").symlink_to("../release.csv")
    with pytest.warns(RecoveryWarning, match="finished"):
        journal.recover("folder/latest.csv")


def test_a_state_that_was_not_written_to_its_end(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_short(monkeypatch, "ready", 1)
    with JOURNAL.open("a") as file:
        file.write("\ndo")
    Path("release.csv").unlink()  # so that it is undone
    with pytest.warns(RecoveryWarning, match="undone"):
        journal.recover("release.csv")
    assert [Path(name).read_text() for name in NAMES[:2]] == ["old", "old"]


def test_systems_without_links(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", _no_links(os.link))
    Path("key").touch(0o600)
    for text in ("one", "two"):
        drafts = [atomic.Draft(name, 0o600 if name == "key" else 0o644) for name in NAMES]
        for draft in drafts:
            draft.path.write_text(text)
        journal.publish(drafts, overwrite=True)
        assert {name: Path(name).read_text() for name in names(here)} == dict.fromkeys(NAMES, text)
        assert [stat.S_IMODE(Path(name).stat().st_mode) for name in NAMES] == [0o600, 0o644, 0o644]


@pytest.mark.parametrize("state", ["marked", "ready", "done"])
@pytest.mark.parametrize("empty", [True, False])
def test_a_folder_that_is_not_there(here: Path, monkeypatch: pytest.MonkeyPatch, state: str, empty: bool) -> None:
    """The owner's record may be on a disk that is not mounted now."""
    mounted, away = here / "disk", here / "away"
    mounted.mkdir()
    drafts = [atomic.Draft(mounted / "key"), atomic.Draft("release.csv")]
    enter = journal._Journal.enter

    def entered(self: journal._Journal, to: str) -> None:
        enter(self, to)
        if to == state:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(journal._Journal, "undo", lambda self, why: None)
        patched.setattr(journal._Journal, "enter", entered)
        with pytest.raises(Killed):
            journal.publish(drafts, overwrite=False)
    mounted.rename(away)
    if empty:
        mounted.mkdir()
    with pytest.raises(CutShortError, match="disk is no longer the same folder; should something be mounted there"):
        journal.recover("release.csv")
    if empty:
        mounted.rmdir()
    away.rename(mounted)
    with pytest.warns(RecoveryWarning):
        journal.recover("release.csv")
    expected = ({"disk"}, set()) if state == "marked" else ({"disk", "release.csv"}, {"key"})
    assert (names(here), names(mounted)) == expected


@pytest.mark.parametrize("state", ["begun", "marked", "ready", "undoing", "done", "cleared"])
def test_a_planted_journal_touches_no_other_file(here: Path, state: str) -> None:
    """A folder from elsewhere may hold a journal that nobody here wrote; whatever it says, only files in it change."""
    victim, near = here / "victim", here / "near"
    victim.mkdir()
    near.mkdir()
    mine = victim / "mine"
    token = "0" * 32
    os.mkfifo(near / "pipe")
    for before in ([4, 0], None):
        for told in (["../victim/mine"], [str(mine), "gone"], ["../victim/mine", "pipe", "release.csv"], ["/dev/zero"]):
            mine.write_text("mine")
            os.utime(mine, ns=(0, 0))
            for end in ("new", "old", "way"):
                (near / f".nominym-{token}-0.{end}").write_text("theirs")
            (near / JOURNAL).touch()
            content = {"format": "nominym-journal", "version": 1, "token": token}
            # Whoever plants it does not know its number; if they did:
            content["inodes"] = [(near / JOURNAL).stat().st_ino, near.stat().st_ino]
            content["files"] = [{"name": name, "before": before} for name in told]
            (near / JOURNAL).write_text(f"{json.dumps(content)}\n{state}\n")
            with warnings.catch_warnings(), suppress(OSError):
                warnings.simplefilter("ignore", RecoveryWarning)
                journal.recover(near / "release.csv")
            assert [path.read_text() for path in victim.iterdir()] == ["mine"]
            (near / JOURNAL).unlink(missing_ok=True)


def test_only_its_owner_follows_a_journal(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_short(monkeypatch, "ready", 1)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(CutShortError, match="run the command as the owner of this journal"):
        journal.recover("release.csv")
    assert [Path(name).read_text() for name in NAMES] == ["new", "old", "old"]


DAMAGED = ["", "{", "[]", "null", "{}", '{"format": "nominym-journal", "version": 2}\nbegun\n', "[" * 100_000, "PAR1"]


@pytest.mark.parametrize("text", DAMAGED)
def test_what_is_no_journal_stays(here: Path, text: str) -> None:
    Path("release.csv").write_text("old")
    JOURNAL.write_text(text)
    with pytest.raises(FormatError, match=r"\.release\.csv\.nym is not a journal of a publication"):
        journal.recover("release.csv")
    assert (Path("release.csv").read_text(), JOURNAL.read_text()) == ("old", text)


def test_a_journal_that_is_no_file(here: Path) -> None:
    os.mkfifo(JOURNAL)
    with pytest.raises(FormatError):
        journal.recover("release.csv")
    JOURNAL.unlink()
    JOURNAL.symlink_to("elsewhere")
    with pytest.raises(CutShortError, match="cannot be opened"):
        journal.recover("release.csv")


def test_one_publishes_at_a_time(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes second waits, in the same folder and for the same key; who only looks waits too."""
    Path("other").mkdir()
    with journal._locked([here / "other", here]):
        JOURNAL.write_text("being written")
        waiting = [
            threading.Thread(target=journal.recover, args=("release.csv",)),
            threading.Thread(target=journal.publish, args=([atomic.Draft("key"), atomic.Draft("other/b.csv")], False)),
        ]
        for thread in waiting:
            thread.start()
            thread.join(0.2)
            assert thread.is_alive()
        JOURNAL.unlink()
        monkeypatch.setattr(journal, "_PATIENCE", 0.05)
        with pytest.raises(BlockingIOError, match="another command is publishing here"):
            journal.publish([atomic.Draft("key"), atomic.Draft("release.csv")], overwrite=False)
    for thread in waiting:
        thread.join()
    assert names(here) == {"key", "other"}
    with pytest.raises(FileExistsError, match="key already exists"):
        journal.publish([atomic.Draft("key"), atomic.Draft("release.csv")], overwrite=False)


def test_a_system_without_locks(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    journal.publish([atomic.Draft("key"), atomic.Draft("release.csv")], overwrite=False)
    assert names(here) == {"key", "release.csv"}


def test_a_target_that_appears_meanwhile(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts = [atomic.Draft("key"), atomic.Draft("release.csv")]
    Path("release.csv").write_text("of somebody else")
    with pytest.raises(FileExistsError, match="already exists"):
        journal.publish(drafts, overwrite=False)
    assert names(here) == {"release.csv"}
    Path("release.csv").unlink()
    place = journal._Journal.place

    def late(self: journal._Journal) -> None:
        Path("release.csv").write_text("of somebody else")
        place(self)

    monkeypatch.setattr(journal._Journal, "place", late)
    with pytest.raises(FileExistsError):
        journal.publish([atomic.Draft("key"), atomic.Draft("release.csv")], overwrite=False)
    assert names(here) == {"release.csv"}
    assert Path("release.csv").read_text() == "of somebody else"


def test_targets_that_turn_out_to_be_one(here: Path) -> None:
    """As where names differ in case only, on a system that does not tell: nothing is lost."""
    for before in (None, "old"):
        drafts = [atomic.Draft("release.csv"), atomic.Draft("release.csv")]
        for draft, text in zip(drafts, ("key", "data"), strict=True):
            draft.path.write_text(text)
        if before is not None:
            Path("release.csv").write_text(before)
        with pytest.raises(FileExistsError):
            journal.publish(drafts, overwrite=True)
        assert {name: Path(name).read_text() for name in names(here)} == (
            {} if before is None else {"release.csv": "old"}
        )


def test_a_fork_leaves_drafts_alone(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    draft = atomic.Draft("a")
    child = os.fork()
    if not child:
        draft.discard()
        os._exit(0)
    os.waitpid(child, 0)
    draft.publish()
    assert names(here) == {"a"}


def test_drafts_that_were_left_behind(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    program = "import os; del os.O_TMPFILE; from nominym.atomic import Draft; a = Draft('a'); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", program])
    assert len(names(here)) == 1
    held = atomic.Draft("b")  # sweeps, and is not swept
    atomic.Draft("c").discard()
    assert names(here) == {held.path.name}
    held.publish()
    assert names(here) == {"b"}


def test_signals_wait(here: Path) -> None:
    """Ctrl-C while files get their names is raised when they have them, and it is known that they do."""

    def work() -> None:
        with atomic.undisturbed():
            signal.raise_signal(signal.SIGINT)
            with atomic.write_atomic("a.txt") as file:
                file.write(b"whole")

    with atomic.noted() as written, pytest.raises(KeyboardInterrupt):
        work()
    assert [path.name for path in written] == ["a.txt"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# ---- one file under two names


@pytest.mark.parametrize("alias", ["out/../release.csv", "linked/release.csv", "hard.csv", "soft.csv"])
def test_one_file_under_two_names(run: Run, alias: str) -> None:
    Path("out").mkdir()
    Path("linked").symlink_to(".")
    Path("release.csv").write_text("old")
    Path("hard.csv").hardlink_to("release.csv")
    Path("soft.csv").symlink_to("release.csv")
    swap = ["swap", "visits.csv", *OPTIONS, "--k", "5", "--overwrite"]
    for targets in (["-o", "release.csv", "--key", alias], ["-o", alias, "--key", "release.csv"]):
        done = run(*swap, *targets)
        assert done.code == 2
        assert "are the same file; the owner's record needs a file of its own" in done.err
    done = run(*swap, "-o", "release.csv", "--key", "out/../release.csv.manifest.json")
    assert "are the same file" in done.err
    for key in (".release.csv.nym", ".nominym-key.draft"):
        assert "is a name that nominym uses while it writes" in run(*swap, "-o", "release.csv", "--key", key).err
    assert Path("release.csv").read_text() == "old"


def test_what_is_read_is_never_replaced(run: Run) -> None:
    Path("linked").symlink_to(".")
    Path("hard.csv").hardlink_to("visits.csv")
    Path("settings.toml").write_text("[method]\nk = 5\n")
    swap = ["swap", "visits.csv", *OPTIONS, "--k", "5", "--overwrite"]
    inputs = {name: Path(name).read_bytes() for name in ("visits.csv", "illness.csv", "settings.toml")}
    for target in ("visits.csv", "linked/visits.csv", "hard.csv", "illness.csv"):
        for options in (["-o", target], ["-o", "release.csv", "--key", target]):
            done = run(*swap, *options)
            assert done.code == 2, options
            assert "which is never replaced; choose another name" in done.err
    config = [*swap, "--config", "settings.toml"]
    commands = [[*config, "-o", "settings.toml"], [*config, "-o", "r.csv", "--key", "linked/settings.toml"]]
    assert run(*swap, "-o", "release.csv", "--key", "key").code == 0
    for name in ("release.csv", "release.csv.manifest.json", "key"):
        inputs[name] = Path(name).read_bytes()
    report = ["report", "visits.csv", "release.csv", "--quasi", "diagnosis=illness.csv", "--key", "key", "--overwrite"]
    commands += [[*report, "-o", name] for name in inputs if name != "settings.toml"]
    commands += [["taxonomy", "convert", "illness.csv", "-o", "linked/illness.csv", "--overwrite"]]
    for command in commands:
        done = run(*command)
        assert done.code == 2, command
        assert "which is never replaced; choose another name" in done.err, (command, done.err)
    assert {name: Path(name).read_bytes() for name in inputs} == inputs
    os.mkfifo("pipe.csv")
    assert "is a pipe or a device" in run(*swap, "-o", "pipe.csv").err
    roles = dict.fromkeys(("name", "ward", "cost"), "identifier") | {"diagnosis": "quasi-identifier"}
    with pytest.raises(ParameterError, match="never replaced"):
        nym.publish("visits.csv", "visits.csv", roles, nym.DataSwap(0.5), overwrite=True)
