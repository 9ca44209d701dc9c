"""Bad input, tried: each gives one clear message and the right exit code, and leaves nothing half-written."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from commands import DIAGNOSES, ROLES, Run, visits

SWAP = ("swap", "visits.csv", "-o", "release.csv", *ROLES, "--k", "5")

Files = Callable[[], set[str]]


def test_empty_file(run: Run, files: Files) -> None:
    Path("visits.csv").write_text("")
    done = run(*SWAP)
    assert (done.code, files()) == (3, set())
    assert "error: visits.csv is empty: expected a first line with the names of the columns" in done.err
    Path("visits.parquet").write_text("")
    done = run("swap", "visits.parquet", *SWAP[2:])
    assert (done.code, files()) == (3, {"visits.parquet"})
    assert "visits.parquet is empty" in done.err


@pytest.mark.parametrize(("records", "told"), [(0, "no record"), (1, "one record")])
def test_hardly_a_row(run: Run, files: Files, records: int, told: str) -> None:
    Path("visits.csv").write_text(visits(records))
    for command in ("swap --k 5", "noise --alpha 0.3"):
        name, *options = command.split()
        done = run(name, "visits.csv", "-o", "release.csv", *ROLES, *options)
        assert (done.code, files()) == (3, set())
        assert f"visits.csv has {told}; at least two are needed" in done.err


def test_all_missing(run: Run, files: Files) -> None:
    text = visits()
    for diagnosis in DIAGNOSES:
        text = text.replace(diagnosis, "")
    Path("visits.csv").write_text(text)
    done = run(*SWAP)
    assert (done.code, files()) == (3, set())
    assert "column 'diagnosis': no value at all" in done.err


@pytest.mark.parametrize("name", [".", "/", "", ".."])
def test_a_folder_in_place_of_a_file(run: Run, name: str) -> None:
    swap = ["swap", name, "-o", "x.csv", "--quasi", "a=equal", "--k", 2]
    recode = ["recode", name, "-o", "x.txt", "--k", 2]
    for command in (swap, recode, ["measure", name, name], ["audit", name, name, "--keep-order"]):
        done = run(*command)
        assert done.code in (2, 3, 4), (command, done.err)
        assert not Path("x.csv").exists()


def test_wrong_delimiter(run: Run, files: Files) -> None:
    Path("visits.csv").write_text(visits().replace(",", ";"))
    done = run(*SWAP)
    assert (done.code, files()) == (3, set())
    assert "only one column" in done.err
    assert "pass --delimiter ';'" in done.err


def test_rows_of_another_length(run: Run, files: Files) -> None:
    Path("visits.csv").write_text(visits() + "P999,flu\n")
    done = run(*SWAP)
    assert (done.code, files()) == (3, set())
    assert "visits.csv, row 62: 2 cells, but 4 in the first row" in done.err
    # Cells of people do not belong into logs.
    assert "P999" not in done.err


def test_a_quote_that_is_never_closed(run: Run, files: Files) -> None:
    Path("visits.csv").write_text(visits() + 'P998,flu,A,"1\nP999,flu,A,2\n')
    done = run(*SWAP)
    assert (done.code, files()) == (3, set())
    assert "a quote is opened and never closed" in done.err


def test_wrong_encoding(run: Run, files: Files) -> None:
    Path("visits.csv").write_bytes((visits() + "Pé,flu,A,1\n").encode("latin-1"))
    done = run(*SWAP)
    assert (done.code, files()) == (3, set())
    assert (
        "visits.csv, line 62: not utf-8 text; pass the encoding of the file, for example --encoding latin-1" in done.err
    )
    done = run(*SWAP, "--encoding", "klingon")
    assert (done.code, files()) == (2, set())
    assert "--encoding klingon: there is no such text encoding" in done.err
    assert run(*SWAP, "--encoding", "latin-1").code == 0


def test_a_column_that_is_not_there(run: Run, files: Files) -> None:
    done = run(*SWAP[:4], "--quasi", "diagnoses=illness.csv", *ROLES, "--k", 5)
    assert (done.code, files()) == (2, set())
    assert "there is no column 'diagnoses'; did you mean 'diagnosis'?" in done.err


def test_a_column_without_a_role(run: Run, files: Files) -> None:
    done = run(*SWAP[:4], "--quasi", "diagnosis=illness.csv", "--identifier", "name", "--k", 5)
    assert (done.code, files()) == (2, set())
    assert "2 columns have no role: 'ward', 'cost'" in done.err
    assert "--identifier ward --identifier cost" in done.err


def test_a_column_with_two_roles(run: Run, files: Files) -> None:
    done = run(*SWAP, "--keep", "diagnosis")
    assert (done.code, files()) == (2, set())
    assert "column 'diagnosis' is given twice: --quasi and --keep" in done.err


def test_duplicate_column_names(run: Run, files: Files) -> None:
    Path("visits.csv").write_text(visits().replace("name,", "ward,", 1))
    done = run(*SWAP)
    assert (done.code, files()) == (3, set())
    assert "column name 'ward' occurs 2 times; rename the columns" in done.err
    Path("visits.csv").write_text(visits().replace("name,", ",", 1))
    done = run(*SWAP)
    assert done.code == 3
    assert "column 1 has no name" in done.err


def test_numbers_where_concepts_are_expected(run: Run, files: Files) -> None:
    frame = pd.DataFrame({"diagnosis": [1.5, 2.5] * 10})
    frame.to_parquet("visits.parquet")
    done = run("swap", "visits.parquet", "-o", "release.csv", "--quasi", "diagnosis=illness.csv", "--k", 5)
    assert (done.code, files()) == (3, {"visits.parquet"})
    assert "column 'diagnosis': holds numbers with decimal places, but nominal values are needed" in done.err
    frame.to_csv("visits.csv", index=False)
    done = run("swap", "visits.csv", "-o", "release.csv", "--quasi", "diagnosis=illness.csv", "--k", 5)
    assert done.code == 3
    assert "2 values (20 records) not in the taxonomy: '1.5' (10×)" in done.err


def test_taxonomy_missing_a_value(run: Run, files: Files) -> None:
    Path("illness.csv").write_text(Path("illness.csv").read_text().replace("measles", "mumps"))
    done = run(*SWAP)
    assert (done.code, files()) == (3, set())
    assert "column 'diagnosis': 1 value (4 records) not in the taxonomy: 'measles' (4×)" in done.err


def test_a_taxonomy_that_is_none(run: Run, files: Files) -> None:
    Path("illness.csv").write_text("a,b\nb,a\n")
    done = run(*SWAP)
    assert (done.code, files()) == (3, set())
    assert "form a cycle" in done.err
    done = run(*(option.replace("=illness.csv", "=absent.csv") for option in SWAP))
    assert (done.code, files()) == (4, set())
    assert "absent.csv: no such file or folder" in done.err
    done = run(*(option.replace("=illness.csv", "") for option in SWAP))
    assert (done.code, files()) == (2, set())
    assert "column 'diagnosis': it has no meaning; give --quasi COLUMN=MEANING" in done.err


def test_names_of_files_that_cannot_be_written_down(run: Run, files: Files) -> None:
    name = os.fsdecode(b"caf\xe9.csv")
    done = run("swap", "visits.csv", "-o", name, *ROLES, "--k", 5)
    assert (done.code, files()) == (2, set())
    assert "is not a file name: give UTF-8 text" in done.err
    assert run("swap", name, "-o", "r.csv", *ROLES, "--k", 5).code == 2
    assert run("swap", *SWAP[1:], "--key", name).code == 2
    assert run("taxonomy", "info", name).code == 2
    assert run("audit", name, "r.csv", "--quasi", "diagnosis").code == 2
    Path("nul.toml").write_text('[input]\npath = "a\\u0000b.csv"\n[output]\npath = "r.csv"\n')
    assert run("swap", "--config", "nul.toml", "--k", 5).code == 2


def test_remedies_are_those_of_the_command_line(run: Run) -> None:
    roles = ("--identifier", "name", "--keep", "ward", "--keep", "cost", "--k", 5)
    Path("some.order").write_text("flu\ncold\n")
    texts = {"three.csv": b"a,b,c\nd,e,f\n", "roots.csv": b"a,b\nc,d\n"}
    for meaning, told in (("some.order", "lowest first: --quasi COLUMN=FILE.order"),
                          ("number", "with --quasi COLUMN=FILE.order, or turn the column into numbers"),
                          ("latin.csv", "line 2: byte 7 (0xe9) is not utf-8 text; convert the file to UTF-8"),
                          ("roots.csv", "give --virtual-root to add one concept above them"),
                          ("latin.order", "convert the file to UTF-8"),
                          ("three.csv", "in the first line, and give --child and --parent, or --levels"),
                          ("illness.xyz", "cannot be detected; give --format as one of edges, ")):  # fmt: skip
        if not Path(meaning).exists() and "." in meaning:
            Path(meaning).write_bytes(texts.get(meaning, b"a,b\ncaf\xe9,b\n"))
        done = run("swap", "visits.csv", "-o", "r.csv", "--quasi", f"diagnosis={meaning}", *roles)
        assert done.code == 3
        assert told in done.err
    done = run("taxonomy", "info", "illness.csv", "--format", "ofn")
    assert done.code == 2
    assert "--format ofn: unknown; use one of edges, " in done.err


def test_k_larger_than_n(run: Run, files: Files) -> None:
    done = run(*SWAP, "--k", 61)
    assert (done.code, files()) == (3, set())
    assert "60 records cannot make a group of k=61; give a smaller k or more records" in done.err
    Path("baskets.dat").write_text("1 2\n2 3\n")
    done = run("recode", "baskets.dat", "-o", "release.parquet", "--k", 3)
    assert (done.code, files()) == (3, {"baskets.dat"})
    assert "2 records, but each needs 3 forms" in done.err


def test_parameters_without_a_meaning(run: Run, files: Files) -> None:
    done = run(*SWAP, "--k", 0)
    assert (done.code, files()) == (2, set())
    assert "error: --k 0: give a whole number, 1 or more" in done.err
    assert run(*SWAP, "--k", "ten").code == 2
    # Told before anything is read, even whether there is a file.
    for command, told in (
        ("swap --k 5 --method records --draw joint", "--draw joint: it applies only where guarantee is 'strict'"),
        ("swap --k 5 --method records --guarantee strict", "leave out --method records for groups that keep 1/k"),
        ("swap --k 5 --draw jont", "--draw jont: give 'independent', 'joint'"),
        ("noise --method exponential", "--epsilon: give a number above 0"),
        ("noise --alpha 0.3 --measure pth", "there is no measure 'pth'"),
        ("data-swap --rate 5", "for 5 % give 0.05"),
        ("recode --k 4 --structure ring --limit 3", "--limit 3.0: it applies only where structure is 'groups'"),
    ):
        name, *options = command.split()
        done = run(name, "absent.csv", "-o", "r.parquet", *options, *([] if name == "recode" else ROLES))
        assert done.code == 2
        assert told in done.err
    done = run(*SWAP, "--seed", -1)
    assert (done.code, files()) == (2, set())
    assert "--seed -1: give a whole number" in done.err
    assert run(*SWAP, "--nonsense").code == 2
    assert run("swapp").code == 2
    assert "give the input file" in run("swap").err
    done = run(*SWAP[:2], "-o", "release.xlsx", *SWAP[4:])
    assert done.code == 2
    assert "a table is in a file that ends in" in done.err


def test_an_input_that_is_not_there(run: Run, files: Files) -> None:
    done = run("swap", "absent.csv", *SWAP[2:])
    assert (done.code, files()) == (4, set())
    assert "absent.csv: No such file or directory" in done.err
    done = run("recode", "absent.dat", "-o", "r.parquet", "--k", 4)
    assert (done.code, files()) == (4, set())
    done = run(*SWAP[:2], "-o", "absent/release.csv", *SWAP[4:])
    assert (done.code, files()) == (4, set())
    assert "no folder absent to write release.csv into" in done.err
    done = run(*SWAP[:2], "-o", ".", *SWAP[4:])
    assert done.code == 2


def test_no_parquet_and_no_items(run: Run, files: Files) -> None:
    Path("a.parquet").write_text("this is no Parquet file")
    done = run("swap", "a.parquet", *SWAP[2:])
    assert (done.code, files()) == (3, {"a.parquet"})
    assert "a.parquet: not a Parquet file" in done.err
    Path("b.dat").write_text("1 2\n3 x\n")
    done = run("recode", "b.dat", "-o", "r.parquet", "--k", 2)
    assert (done.code, files()) == (3, {"a.parquet", "b.dat"})
    assert "b.dat, line 2" in done.err
    Path("c.dat").write_text("")
    done = run("recode", "c.dat", "-o", "r.parquet", "--k", 2)
    assert done.code == 3
    assert "c.dat has no record" in done.err


# ---- disks


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mount a small disk, or skip the test where that is not allowed."""
    mounted: list[Path] = []

    def mount(size: str, *, read_only: bool = False) -> Path:
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        options = f"size={size}{',ro' if read_only else ''}"
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
        mounted.append(place)
        return place

    yield mount
    # A disk that is still in use holds a file that should be closed; it must not outlive the test all the same.
    in_use = [place for place in mounted if subprocess.run(["umount", place], check=False).returncode]
    for place in in_use:
        subprocess.run(["umount", "--lazy", place], check=True)
    assert not in_use


@pytest.mark.parametrize("name", ["release.csv", "release.parquet", "release.csv.gz"])
def test_disk_full(run: Run, disk: Callable[..., Path], name: str) -> None:
    import random

    draw = random.Random(1)
    lines = [f"P{i},{DIAGNOSES[i % 6]},{draw.getrandbits(60)},{draw.getrandbits(60)}" for i in range(30_000)]
    Path("visits.csv").write_text("\n".join(["name,diagnosis,ward,cost", *lines]) + "\n")
    place = disk("256k")
    (place / name).write_text("the old release")
    accepted = ("--accept", "ward", "--accept", "cost")
    done = run("swap", "visits.csv", "-o", place / name, *ROLES, *accepted, "--k", 5, "--overwrite")
    assert done.code == 4, done.err
    assert "no space left on the disk; nothing was written" in done.err
    assert [path.name for path in place.iterdir()] == [name]
    assert (place / name).read_text() == "the old release"


def test_read_only_target(run: Run, disk: Callable[..., Path]) -> None:
    place = disk("64k", read_only=True)
    done = run(*SWAP[:2], "-o", place / "release.csv", *SWAP[4:])
    assert done.code == 4
    assert f"{place / 'release.csv'}: Read-only file system" in done.err
    assert not list(place.iterdir())


# ---- the end of the process


def _start(folder: Path) -> subprocess.Popen[str]:
    """Start a release that is held back in the middle of writing."""
    program = """
import sys, time
from nominym.release import text
lines = text.written_lines
def slowly(*args):
    for part in lines(*args):
        yield part
        sys.stdout.write("writing\\n"); sys.stdout.flush()
        time.sleep(60)
text.written_lines = slowly
from nominym.cli import main
main(sys.argv[1:])
"""
    arguments = [*SWAP, "--overwrite", "--key", "owner.parquet"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.parametrize("before", [None, "the old release"])
def test_killed_in_the_middle(folder: Path, files: Files, before: str | None) -> None:
    if before is not None:
        Path("release.csv").write_text(before)
    with _start(folder) as process:
        process.send_signal(signal.SIGKILL)
    assert files() == (set() if before is None else {"release.csv"})
    if before is not None:
        assert Path("release.csv").read_text() == before


def test_ctrl_c_in_the_middle(folder: Path, files: Files) -> None:
    with _start(folder) as process:
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert process.wait(10) == 130
        assert time.monotonic() - sent < 2
        assert process.stderr is not None
        told = process.stderr.read()
    assert "error: interrupted; nothing was written" in told
    assert "Traceback" not in told
    assert files() == set()


def test_errors_show_where_they_come_from_only_if_asked(run: Run) -> None:
    done = run(*SWAP, "--k", 0)
    assert "Traceback" not in done.err
    done = run("--verbose", *SWAP, "--k", 0)
    assert "Traceback" in done.err
    assert done.code == 2


def test_a_defect_is_told_as_such(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("nominym.release.pipeline.in_order", broken)
    done = run(*SWAP)
    assert done.code == 70
    assert "a defect in nominym (ZeroDivisionError: oops)" in done.err


def test_toml_without_its_extra(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tomllib", "tomli"):
        monkeypatch.setitem(sys.modules, name, None)
    Path("release.toml").write_text("")
    done = run("swap", "--config", "release.toml")
    assert done.code == 2
    assert done.err == "error: reading TOML files needs the extra: pip install nominym[cli]\n"


def test_a_bar_on_a_terminal(folder: Path) -> None:
    terminal, end = os.openpty()
    with subprocess.Popen([sys.executable, "-m", "nominym", *SWAP], stdout=subprocess.PIPE, stderr=end) as process:
        os.close(end)
        shown = b""
        with contextlib.suppress(OSError):  # the terminal is closed when the process ends
            while part := os.read(terminal, 4096):
                shown += part
        assert process.wait(30) == 0
    os.close(terminal)
    assert "groups ██" in shown.decode()
    assert "reading ██" in shown.decode()


def test_as_a_module(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nominym", *SWAP], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    # Nobody looks at a bar in a file.
    assert "█" not in done.stderr
