"""Odd and damaged input files: each is read as it is, or refused with its name; never a defect, a hang or a guess."""

from __future__ import annotations

import gzip
import io
import os
import random
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nominym as nym
from commands import ROLES, Run, visits
from nominym.error import FormatError, NominymError

SWAP = ("swap", "visits.csv", "-o", "release.csv", *ROLES, "--k", "5")

Files = Callable[[], set[str]]


# ---- quotes

OPEN = [
    'a,b\n1,2\n3,"4', 'a,b\n1,2\n3,"', 'a,b\n1,2\n3,"4""', 'a,b\n1,2\n3,"4\n', 'a,b\n1,"2\n3,4', 'a\n1\n"2', 'a,b\n1,"',
    'a,"b\n1,2\n', 'a,b\n1,2\r3,"4\r', 'a-b\n1-2\n3-"4', 'a,b\n1,2\n3,"4\n,-\n', 'a,b\n1,2\n3,"-',
]  # fmt: skip
CLOSED = {
    'a,b\n1,2\n3,"4"': (["1", "3"], ["2", "4"]),
    'a,b\n1,2\n3,"4"\n': (["1", "3"], ["2", "4"]),
    'a,b\n1,2\n3,"4"""': (["1", "3"], ["2", '4"']),
    'a,b\n1,2\n3,"4\n"\n': (["1", "3"], ["2", "4\n"]),
    'a,b\n1,2\n3,5"': (["1", "3"], ["2", '5"']),
    'a,b\n1,2\n3,""': (["1", "3"], ["2", None]),
    "a,b\n1,2\n3,-": (["1", "3"], ["2", "-"]),
    "a,b\n1,2\n,-\n": (["1", None], ["2", "-"]),
    "a,b\r\n1,2\r\n3,\r\n": (["1", "3"], ["2", None]),
    "a,b\r1,2\r3,4\r": (["1", "3"], ["2", "4"]),
    "a,b\n1,2\n\n\n3,4\n\n": (["1", "3"], ["2", "4"]),
    "a,b\n": ([], []),
    "a,b": ([], []),
    "a-b\n1-2\n3-.": (["1", "3"], ["2", "."]),
    "a\n1\n\n2\n\n": (["1", None, "2", None],),
    "a\n1\n-": (["1", "-"],),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("text", OPEN)
def test_a_quote_that_is_opened_is_closed(tmp_path: Path, text: str, packed: bool) -> None:
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    delimiter = "-" if "-b" in text else ","
    for columns in (None, ["a"], []):
        with pytest.raises(FormatError, match=r"t\.csv.*: a quote is opened and never closed"):
            nym.release.read_table(path, columns, delimiter=delimiter)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("text", CLOSED)
def test_records_end_where_they_end(tmp_path: Path, text: str, packed: bool) -> None:
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    table = nym.release.read_table(path, delimiter="-" if "-b" in text else ",")
    assert tuple(table[name].to_pylist() for name in table.column_names) == CLOSED[text]
    # What shows the end of the records is none of their values.
    for column in table.columns:
        assert set(column.combine_chunks().dictionary.to_pylist()) == set(column.to_pylist()) - {None}


@pytest.mark.parametrize("size", [2**20 - 2, 2**20 - 1, 2**20, 2**20 + 1, 2**21])
@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_the_end_of_the_last_block(tmp_path: Path, size: int, ending: str) -> None:
    """Whatever is read at a time, nothing is added or lost."""
    path, line = tmp_path / "t.csv", "12345678,abcdefg\n"
    lines = size // len(line)
    path.write_text("a,b\n" + line * lines + "x" * (size - lines * len(line) - 4) + f",y{ending}", newline="")
    table = nym.release.read_table(path)
    assert (table.num_rows, table["b"][-1].as_py(), table["a"][0].as_py()) == (lines + 1, "y", "12345678")


# ---- encodings


@pytest.mark.parametrize("text", ["\na,b\n1,2\n", "\r\na,b\r\n1,2\r\n", "# note\n\na,b\n1,2\n"])
def test_an_empty_line_in_place_of_names(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    with pytest.raises(FormatError, match=r"t\.csv: the first line is empty; put the names of the columns there"):
        nym.release.read_table(path, comment="#")


def test_no_byte_order_mark(run: Run, files: Files) -> None:
    for order in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        said = order[:6]
        Path("visits.csv").write_bytes(visits().encode(order))
        done = run(*SWAP, "--encoding", said)
        assert (done.code, files()) == (3, set())
        assert f"error: visits.csv: not {said} text, which begins with a byte order mark" in done.err
        assert done.err.endswith(f"pass the encoding of the file, for example --encoding {order}\n")
        assert run(*SWAP, "--encoding", order, "--overwrite").code == 0
        for path in files():
            Path(path).unlink()
    for order in ("utf-16-le", "utf-16-be"):
        Path("visits.csv").write_bytes(visits().encode(order))
        done = run(*SWAP)
        assert (done.code, files()) == (3, set())
        assert "visits.csv: zero bytes in the names of the columns; pass the encoding" in done.err
        assert done.err.endswith(f"perhaps --encoding {order}\n")
    Path("visits.csv").write_bytes(visits().encode("utf-16"))
    done = run(*SWAP)
    assert done.err.startswith("error: visits.csv, line 1: not utf-8 text; pass the encoding of the file, for example")
    assert done.err.endswith("--encoding utf-16\n")
    assert run(*SWAP, "--encoding", "utf-16").code == 0


def test_taxonomies_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("flu,illness\ncold,illness\n".encode("utf-16-be"))
    with pytest.raises(FormatError, match=r"t\.csv: not utf-16 text, .* encoding='utf-16-be'|convert"):
        nym.read_taxonomy(path, encoding="utf-16")
    assert len(nym.read_taxonomy(path, encoding="utf-16-be")) == 3


@pytest.mark.parametrize(
    ("encoding", "odd"),
    [("utf-7", "é漢+~"), ("hz", "汉~"), ("cp037", "é"), ("utf-8-sig", "é漢"), ("iso2022_jp", "漢"), ("utf-16", "é漢🦠"),
     ("gb18030", "é漢🦠"), ("cp1252", "€"), ("shift_jisx0213", "漢"), ("utf-32-be", "é🦠"), ("big5", "漢")],
)  # fmt: skip
def test_odd_encodings(tmp_path: Path, encoding: str, odd: str) -> None:
    """Blocks of text end in the middle of a character or a state, and the last cell of the file is odd too."""
    cells = [f"{odd * (i % 5)}{i}{odd}" for i in range(50_000)]
    source, target = tmp_path / "t.csv", tmp_path / "u.csv"
    source.write_bytes(("a,b\n" + "\n".join(f"x{odd},{cell}" for cell in cells)).encode(encoding))
    table = nym.release.read_table(source, encoding=encoding)
    assert table["b"].to_pylist() == cells
    assert set(table["a"].to_pylist()) == {f"x{odd}"}
    nym.release.write_table(table, target, encoding=encoding)
    assert target.read_bytes().decode(encoding) == source.read_bytes().decode(encoding) + "\n"


@pytest.mark.parametrize(
    ("encoding", "data", "line"),
    [
        ("utf-8", b"a,b\n1,2\n3,\xe9\n", 3),
        ("utf-8", b"a,b\n1,2\n" + b"3,4\n" * 2**19 + b"\xe9,5", 2**19 + 3),
        ("utf-8", b"a,b\n1,2\n3,\xc3", 3),
        ("utf-16", "a,b\n1,2\n".encode("utf-16") + b"x", 3),
        ("utf-7", b"a,b\n1,+2AA-", 1),
        ("hz", b"a,b\n1,~x", 2),
        ("ascii", b"a,b\n\xe9", 2),
    ],
)
def test_what_does_not_decode(tmp_path: Path, encoding: str, data: bytes, line: int) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    # The whole file has to be text, also in columns that are not asked for.
    for columns in (None, ["a"], ["b"]):
        with pytest.raises(FormatError, match=rf"t\.csv, line {line}: not {encoding} text; pass the encoding"):
            nym.release.read_table(path, columns, encoding=encoding)


def test_what_is_no_encoding_of_files(run: Run, files: Files) -> None:
    for encoding in ("unicode_escape", "raw_unicode_escape", "idna", "punycode", "rot13", "hex", "undefined", ""):
        done = run(*SWAP, "--encoding", encoding)
        assert (done.code, files()) == (2, set())
        assert "there is no such text encoding" in done.err


# ---- what is no file


def test_a_pipe_is_refused(run: Run, folder: Path, files: Files) -> None:
    """Opening one waits for a writer that may never come, and what was read is gone."""
    for name in ("p.csv", "p.parquet", "p.dat", "p.toml", "p.txt", "p.json", "p.order", "p.csv.gz"):
        os.mkfifo(name)
    Path("b.dat").write_text("1 2\n2 3\n1 3\n1 2\n")
    assert run(*SWAP, "--key", "owner.parquet").code == 0
    before = files()
    audit = ("audit", "visits.csv", "release.csv", "--quasi", "diagnosis=illness.csv", "--key", "owner.parquet")
    for arguments in (
        ("swap", "p.csv", "-o", "r.csv", *SWAP[4:]),
        ("swap", "p.csv.gz", "-o", "r.csv", *SWAP[4:]),
        ("swap", "p.parquet", "-o", "r.csv", *SWAP[4:]),
        ("swap", "--config", "p.toml"),
        ("swap", "visits.csv", "-o", "r.csv", *SWAP[4:6], "--quasi", "diagnosis=p.csv", *SWAP[8:]),
        ("swap", "visits.csv", "-o", "r.csv", *SWAP[4:6], "--quasi", "diagnosis=p.order", *SWAP[8:]),
        ("recode", "p.dat", "-o", "r.parquet", "--k", "2"),
        ("recode", "b.dat", "-o", "r.parquet", "--k", "2", "--label", "p.txt"),
        ("recode", "b.dat", "-o", "r.parquet", "--k", "2", "--person", "p.txt"),
        ("taxonomy", "info", "p.json"),
        ("taxonomy", "info", "p.parquet"),
        ("taxonomy", "check", "illness.csv", "p.csv", "--column", "a"),
        ("audit", "p.csv", *audit[2:]),
        (*audit[:2], "p.csv", *audit[3:]),
        (*audit[:-1], "p.parquet"),
        ("audit", "p.dat", "b.dat"),
    ):
        done = run(*arguments)
        assert (done.code, files()) == (3, before), arguments
        option = next(part for part in arguments if part.removeprefix("diagnosis=")[:2] == "p.")
        name = option.removeprefix("diagnosis=")
        where = "column 'diagnosis': " if name != option else ""
        told = f"error: {where}{name} is a pipe, not a file; save what it holds to a file first\n"
        assert done.err == told, arguments
    Path("release.csv.manifest.json").unlink()
    os.mkfifo("release.csv.manifest.json")
    done = run(*audit)
    assert (done.code, done.err) == (
        3, "error: release.csv.manifest.json is a pipe, not a file; save what it holds to a file first\n"
    )  # fmt: skip


def test_devices_and_sockets_are_refused(run: Run, files: Files, folder: Path) -> None:
    Path("zero.csv").symlink_to("/dev/zero")
    done = run("swap", "zero.csv", *SWAP[2:])
    assert (done.code, done.err) == (3, "error: zero.csv is a device, not a file; save what it holds to a file first\n")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.csv")
        done = run("swap", "s.csv", *SWAP[2:])
    assert (done.code, done.err) == (3, "error: s.csv is a socket, not a file; save what it holds to a file first\n")
    assert files() == {"zero.csv", "s.csv"}


@pytest.mark.usefixtures("folder")
def test_standard_input_is_a_file_or_refused(files: Files) -> None:
    Path("in.csv").symlink_to("/dev/stdin")
    command = [sys.executable, "-m", "nominym", "swap", "in.csv", *SWAP[2:]]
    done = subprocess.run(command, input=visits(), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, files()) == (3, {"in.csv"})
    assert done.stderr == "error: in.csv is a pipe, not a file; save what it holds to a file first\n"
    with Path("visits.csv").open() as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("/dev/stdin", "-"):
        command[4] = name
        done = subprocess.run(command, input=visits(), capture_output=True, text=True, timeout=60, check=False)
        assert "Traceback" not in done.stderr
        assert done.returncode in (2, 3, 4)


# ---- damaged Parquet files


def table_of(records: int = 400) -> Any:
    draw = random.Random(1)
    return pa.table({
        "diagnosis": [draw.choice(["flu", "cold", "é" * 5, None]) for _ in range(records)],
        "age": [draw.randrange(90) for _ in range(records)],
        "items": [[draw.randrange(5)] * draw.randrange(3) for _ in range(records)],
        "share": [draw.random() for _ in range(records)],
        "ward": pa.array([str(i) for i in range(records)]).dictionary_encode(),
    })  # fmt: skip


def damaged(good: bytes, number: int) -> list[bytes]:
    """Change some bytes: anywhere, and as often in the part that describes the rest."""
    draw, found = random.Random(2), []
    footer = int.from_bytes(good[-8:-4], "little") + 8
    for i in range(number):
        bad = bytearray(good)
        for _ in range(draw.choice([1, 1, 2, 5])):
            bad[draw.randrange(len(bad)) if i % 2 else len(bad) - 1 - draw.randrange(footer)] = draw.randrange(256)
        found.append(bytes(bad))
    return [*found, *(good[: draw.randrange(len(good))] for _ in range(20))]


@pytest.mark.parametrize("compression", ["zstd", "none", "snappy"])
def test_damaged_parquet_files(tmp_path: Path, compression: str) -> None:
    path, file = tmp_path / "t.parquet", io.BytesIO()
    pq.write_table(table_of(), file, compression=compression, row_group_size=150)
    refused = 0
    for bad in damaged(file.getvalue(), 300):
        path.write_bytes(bad)
        try:
            read = nym.release.read_table(path)
        except NominymError as error:
            assert f"{path}: " in str(error)  # noqa: PT017
            refused += 1
        else:
            # What cannot be told from another table is one.
            read.validate(full=True)
            assert len(read.to_pydict()) == read.num_columns
    assert refused > 150


def test_damaged_pages_of_our_own_are_noticed(tmp_path: Path) -> None:
    path, table = tmp_path / "t.parquet", table_of()
    nym.release.write_table(table, path)
    good, draw = path.read_bytes(), random.Random(3)
    end = len(good) - int.from_bytes(good[-8:-4], "little") - 8
    said = pq.read_metadata(path).row_group(0)
    refused = 0
    for _ in range(300):
        bad = bytearray(good)
        at = draw.randrange(4, end)
        bad[at] ^= 1 << draw.randrange(8)
        path.write_bytes(bad)
        try:
            assert nym.release.read_table(path).to_pydict() == table.to_pydict(), (at, said)
        except FormatError as error:
            assert f"{path}: not a Parquet file, or a damaged one" in str(error)  # noqa: PT017
            refused += 1
    assert refused > 200


def test_a_damaged_parquet_file_on_the_command_line(run: Run, files: Files) -> None:
    file = io.BytesIO()
    pq.write_table(table_of(), file, compression="none")
    roles = ("--quasi", "diagnosis=equal", "--quasi", "age=number", "--identifier", "ward", "--identifier", "items",
             "--identifier", "share")  # fmt: skip
    for bad in damaged(file.getvalue(), 30):
        Path("t.parquet").write_bytes(bad)
        done = run("swap", "t.parquet", "-o", "r.csv", *roles, "--k", "5", "--overwrite")
        assert done.code in (0, 2, 3), done.err
        assert done.code == 0 or "t.parquet" in done.err or "column" in done.err, done.err


def test_an_error_of_the_caller_is_not_one_of_the_file(tmp_path: Path) -> None:
    def stop(*_: int) -> None:
        raise LookupError("enough")

    nym.release.write_table(table_of(), tmp_path / "t.parquet")
    with pytest.raises(LookupError, match="enough"):
        nym.release.read_table(tmp_path / "t.parquet", progress=stop)


def test_no_column_of_a_parquet_file(tmp_path: Path) -> None:
    nym.release.write_table(table_of(), tmp_path / "t.parquet")
    assert nym.release.read_table(tmp_path / "t.parquet", []).num_columns == 0
    nym.release.write_table(table_of(0), tmp_path / "none.parquet")
    assert nym.release.read_table(tmp_path / "none.parquet").num_rows == 0
