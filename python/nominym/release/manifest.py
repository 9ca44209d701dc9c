"""The files next to a release: a public manifest and, on request, the owner's record.

The manifest says how a release was made and what it guarantees. It is a function of the method, of the groups and of
the values that are in the release anyway: no seed, no trace of the input, no figure of this one draw, no path. All of
these are in the owner's record, a file that only the owner may read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nominym._core import __version__
from nominym.aggregate import Microaggregate
from nominym.content import AMOUNT, COUNT, SHARE, Numbers, brief, misfits, parse_json, plain
from nominym.error import DataError, FormatError, NominymError, ParameterError
from nominym.files import as_input, fingerprint, read_bytes
from nominym.guarantee import SEEDED, Guarantee
from nominym.itemsets import Recode
from nominym.journal import recover
from nominym.meaning import DistanceMatrix, Equality, Meaning, Measure, Order, Sets, Taxonomy
from nominym.method import Method, OwnersOnly
from nominym.noise import Noise
from nominym.release.parquet import ParquetTable
from nominym.swap import DataSwap, RankSwap
from nominym.table import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.files import StrPath

METHODS: Mapping[str, type[Method]] = {
    each.command: each for each in (RankSwap, Microaggregate, Noise, DataSwap, Recode)
}
"""All methods by the name of their command."""

NAME, VERSION = "nominym-manifest", 4
SUFFIX = ".manifest.json"
RECORD_NAME, RECORD_VERSION = "nominym-record", 2


def manifest_path(release: StrPath) -> Path:
    """Return the path of the manifest of a release, which is beside it.

    >>> manifest_path("out/visits.csv").name
    'visits.csv.manifest.json'
    """
    return Path(f"{os.fspath(release)}{SUFFIX}")


@dataclass(frozen=True)
class Manifest:
    """The public side of a release.

    >>> noise = Noise(alpha=0.3)
    >>> said = {"params": {"columns": [], "seeded": False}, "summary": {"records": 0, "attributes": {}}}
    >>> made = Manifest("noise", {"alpha": 0.3}, **said, guarantee=noise.statement([]).to_dict())
    >>> Manifest.from_json(made.to_json()) == made
    True
    >>> made.method
    Noise(alpha=0.3)
    """

    command: str
    """The command of the method: a key of ``METHODS``."""
    options: dict[str, Any] = field(default_factory=dict)
    """The options of the method that differ from its defaults."""
    params: dict[str, Any] = field(default_factory=dict)
    """Everything that defines how it was made, as in a result."""
    summary: dict[str, Any] = field(default_factory=dict)
    """What was achieved: figures that do not depend on the draw."""
    guarantee: dict[str, Any] = field(default_factory=dict)
    """What is guaranteed: adversary, unit, premise, and what is not covered."""
    roles: dict[str, Any] = field(default_factory=dict)
    """Columns by role; identifiers are named but not in the release."""
    meanings: dict[str, Any] = field(default_factory=dict)
    """The meanings of masked columns; a taxonomy by name, size and fingerprint."""
    output: dict[str, Any] = field(default_factory=dict)
    """Name, size and SHA-256 of the release, its rows and columns."""
    order: str = "shuffled"
    """Whether the rows are "shuffled", "kept" in the order of the input, or "sorted" by their content."""
    seeded: bool = False
    """Whether a seed was given: such a release guarantees nothing."""
    notes: list[str] = field(default_factory=list)
    """Notes that a reader should not miss."""
    made: str = field(default_factory=lambda: datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    version: str = __version__

    def to_json(self) -> str:
        """Return the text of the file."""
        content = {"format": NAME, "format_version": VERSION, **plain(asdict(self))}
        content["checksum"] = _checksum(content)
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"

    @staticmethod
    def from_json(text: str | bytes, where: str = "manifest") -> Manifest:
        """Read the text of a file."""
        try:
            content = parse_json(text)
            found = content["format"], content["format_version"]
        except (ValueError, KeyError, TypeError):
            raise FormatError(f"{where} is not a manifest of a release; expected JSON with format {NAME!r}") from None
        if found != (NAME, VERSION):
            told = brief(f"format {found[0]!r} version {found[1]!r}")
            raise FormatError(f"{where}: {told}, not {NAME!r} version {VERSION}")
        if content.get("checksum") != _checksum(content):
            raise FormatError(f"{where} was damaged, or changed after it was written; make the release again")
        faults = "; ".join(islice(_faults(content), 3))
        if faults:
            told = f"{where} is not a manifest that nominym wrote: {brief(faults)}"
            raise FormatError(told, remedy="make the release again")
        made = _made(content)
        return replace(made, summary=_with_sizes(made.summary))

    @property
    def method(self) -> Method:
        """Return the method that made the release."""
        if self.command not in METHODS:
            raise FormatError(f"the manifest is of {self.command!r}, which is not one of {', '.join(METHODS)}")
        given = dict(self.options)
        measure = given.get("measure")
        if isinstance(measure, Mapping) and measure.get("ic") == "counts":
            raise ParameterError(
                f"measure {measure.get('name')!r} was used with counts of a corpus, which a manifest does not store"
            )
        try:
            if isinstance(measure, Mapping):
                given["measure"] = Measure(**measure)
            return METHODS[self.command](**given)
        except (NominymError, TypeError) as error:
            raise FormatError(f"the manifest of {self.output.get('name')} has options unknown here ({error})") from None

    @property
    def statement(self) -> Guarantee:
        """Return the guarantee. With a seed there is none, whatever else is written here."""
        if self.seeded:
            return SEEDED
        try:
            return Guarantee.from_dict(self.guarantee)
        except ValueError:
            raise FormatError(f"the manifest of {self.output.get('name')} has no statement of the guarantee") from None

    def check(self, release: StrPath, sha256: str | None = None) -> None:
        """Raise if a release is not the one of this manifest."""
        if (sha256 or fingerprint(release)["sha256"]) != self.output.get("sha256"):
            raise DataError(
                f"{manifest_path(release)} does not describe {os.fspath(release)} in its current state: the file was "
                f"changed, or "
                "its writing was interrupted; make the release again"
            )


def read_manifest(release: StrPath) -> Manifest:
    """Read the manifest of a release, given the path of either.

    >>> from tempfile import TemporaryDirectory
    >>> import nominym as nym
    >>> with TemporaryDirectory() as folder:
    ...     path, roles = Path(folder, "visits.csv"), {"age": "quasi-identifier"}
    ...     _ = nym.publish({"age": [18, 19, 44, 46]}, path, roles, RankSwap(k=2), {"age": Order()})
    ...     read_manifest(path).method
    RankSwap(k=2)
    """
    path = manifest_path(os.fspath(release).removesuffix(SUFFIX))
    recover(os.fspath(path).removesuffix(SUFFIX))
    return Manifest.from_json(read_bytes(path), str(path))


def _with_sizes(summary: dict[str, Any]) -> dict[str, Any]:
    """Return a summary with numbers for sizes of groups: keys in JSON are always texts."""
    if "sizes" not in (summary.get("groups") or {}):
        return summary
    groups = summary["groups"]
    return {**summary, "groups": {**groups, "sizes": {int(size): count for size, count in groups["sizes"].items()}}}


_GROUPS: dict[str, Any] = {"count": COUNT, "smallest": COUNT, "largest": COUNT, "persons?": COUNT}
_ONE_VALUE = {str: {"groups": COUNT, "records": COUNT}}
_OF_COLUMN = {"categories": COUNT, "missing": COUNT, "root": (None, str)}
_EXPECTED = {"expected_rmse": AMOUNT, "expected_unchanged": SHARE, "expected_missing_moved": AMOUNT}
_SIZES = {
    **_GROUPS,
    "sizes": {re.compile("[1-9][0-9]{0,14}"): COUNT},
    "largest_share?": SHARE,
    "sensitive?": {str: SHARE},
    "constant": _ONE_VALUE,
    "read_off": _ONE_VALUE,
}
_RECORDS = Numbers(1, 2**53, whole=True)
_PUBLISHED = {"records": COUNT, "attributes": {str: _OF_COLUMN}}
_STRICT = {
    "records": _RECORDS, "bound": (None, SHARE), "groups": _SIZES, "attributes": {str: {**_OF_COLUMN, **_EXPECTED}},
}  # fmt: skip
_LOST = {
    "values": COUNT, "sse": AMOUNT, "rmse": AMOUNT, "loss": AMOUNT, "unchanged": SHARE, "missing_made": COUNT,
    "missing_filled": COUNT,
}  # fmt: skip
_AGGREGATED = {**_STRICT, "sse": AMOUNT, "loss": AMOUNT, "attributes": {str: {**_OF_COLUMN, **_LOST}}}
_SETS = {
    "records": _RECORDS,
    "items": COUNT,
    "matches": COUNT,
    "bound": (None, SHARE),
    "expected_error": AMOUNT,
    "threshold": {"mean": AMOUNT, "largest": COUNT},
    "groups?": _GROUPS,
    "labels?": {"number": COUNT, "largest_share": SHARE},
}
_FILE = {"name?": str, "bytes?": COUNT, "sha256?": str, "rows?": COUNT, "columns?": COUNT, "items?": COUNT}
_SHAPE = {
    "command": METHODS.keys(),
    "options": dict,
    "params": {"columns?": [str], "roots?": {str: (None, str)}, "seeded": bool},
    "summary": dict,
    "guarantee": dict,
    "roles": {f"{role}?": [str] for role in ("identifier", "quasi-identifier", "keep", "person")},
    "meanings": {str: {
        "meaning": {each.__name__ for each in (Taxonomy, DistanceMatrix, Order, Equality, Sets)},
        "name?": str, "values?": [(str, bool, Numbers())], "concepts?": COUNT, "links?": COUNT, "root?": str,
        "sha256?": str,
    }},
    "output": _FILE,
    "order": {"shuffled", "kept", "sorted"},
    "seeded": bool,
    "notes": [str],
    "made": str,
    "version": str,
}  # fmt: skip


def _faults(content: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over missing or invalid parts, so that later code can rely on the content."""
    found = list(misfits(content, _SHAPE))
    if found:
        yield from found
        return
    made = _made(content)
    for said in made.meanings.values():
        yield from _refused(Order, said.get("values"))
    yield from _refused(Guarantee.from_dict, made.guarantee)
    method: Method | None = None
    try:
        method = made.method
    except FormatError as error:
        yield str(error)
    except ParameterError:
        pass  # counts of a corpus: who asks for the method is told
    if made.command == Recode.command:
        yield from misfits(made.summary, _SETS, "summary")
        return
    strict = (method is not None and method.grouped) or "groups" in made.summary
    found = list(misfits(made.params, {"columns": list, **({"k": _RECORDS} if strict else {})}, "params"))
    shape = _AGGREGATED if made.command == Microaggregate.command else _STRICT if strict else _PUBLISHED
    found += misfits(made.summary, shape, "summary")
    yield from found
    masked = set(made.params.get("columns", ()))
    if not found and not masked == set(made.roles.get("quasi-identifier", masked)) == set(made.summary["attributes"]):
        yield "roles, params and summary are not of the same masked columns"


def _refused(make: Callable[[Any], object], given: Any) -> Iterator[str]:
    try:
        make(given)
    except ValueError as error:
        yield str(error)


def _made(content: Mapping[str, Any]) -> Manifest:
    known = [each.name for each in fields(Manifest)]
    return Manifest(**{name: value for name, value in content.items() if name in known})


def _checksum(content: dict[str, Any]) -> str:
    """Return a SHA-256 of the content of a file, however it is formatted, to detect damage."""
    said = {name: value for name, value in content.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def options_of(method: Method) -> dict[str, Any]:
    """Return the options of a method that differ from its defaults, as JSON values."""
    given = {each.name: getattr(method, each.name) for each in fields(method)}
    said = {name: value for name, value in given.items() if value != method.default(name)}
    if isinstance(said.get("measure"), Measure):
        measure = said["measure"]
        counted = not isinstance(measure.ic, str)
        said["measure"] = {"name": measure.name, "ic": "counts" if counted else measure.ic, "k": measure.k}
    return dict(plain(said))


def describe(meaning: Meaning, source: str | None = None) -> dict[str, Any]:
    """Return the description of a meaning: for a taxonomy its size and a SHA-256 of its content, whatever the file.

    >>> describe(Order(["low", "high"]))
    {'meaning': 'Order', 'values': ['low', 'high']}
    """
    said: dict[str, Any] = {"meaning": type(meaning).__name__}
    if source is not None:
        said["name"] = Path(source).name
    if isinstance(meaning, Order) and meaning.values is not None:
        said["values"] = list(meaning.values)
    taxonomy = meaning.taxonomy if isinstance(meaning, Sets) else meaning
    if isinstance(taxonomy, Taxonomy):
        held = taxonomy.to_concepts()
        links = sorted(zip(held.child, held.parent, strict=True))
        names = sorted(held.labels.items()), sorted((i, sorted(n)) for i, n in held.synonyms.items())
        content = json.dumps([sorted(held.ids), links, names], ensure_ascii=False, separators=(",", ":"))
        digest = hashlib.sha256(content.encode()).hexdigest()
        said |= {"concepts": len(taxonomy), "links": taxonomy.links, "root": taxonomy.root, "sha256": digest}
    return said


# ---- the owner's record


@dataclass(frozen=True, eq=False, repr=False)
class OwnersRecord(OwnersOnly):
    """What only the owner of a release may know: anyone who has it can undo the protection."""

    rows: NDArray[np.uint32]
    """The row of the release for each record of the input."""
    input: dict[str, Any]
    """Name, size and SHA-256 of the input, if it was a file; its rows and columns; for item sets, a SHA-256 of their
    ``persons`` and of their ``labels``, if any."""
    seed: int | None
    summary: dict[str, Any]
    """All figures, including those of this one draw."""
    groups: NDArray[np.uint32] | None = None
    """The group of each record of the input, if the method forms groups."""


_RECORD = {
    "release": str,
    "input": {**_FILE, "labels?": str, "persons?": str},
    "seed": (None, Numbers(0, 2**64 - 1, whole=True)),
    "summary": {
        "attributes?": {str: {"missing?": COUNT, "candidates?": {str: Numbers()}}},
        "groups?": {f"{name.removesuffix('?')}?": shape for name, shape in _SIZES.items()},
        "notes?": [str],
    },
}


def write_record(record: OwnersRecord, draft: Path, release: str) -> None:
    """Write the owner's record of a release, given its SHA-256."""
    columns = {"row": record.rows, **({} if record.groups is None else {"group": record.groups})}
    about = plain({"format": RECORD_NAME, "version": RECORD_VERSION, "release": release, "input": record.input,
                   "seed": record.seed, "summary": record.summary, "columns": _digests(columns)})  # fmt: skip
    about["checksum"] = _checksum(about)
    table = pa.table({name: pa.array(numbers, pa.uint32()) for name, numbers in columns.items()})
    text = json.dumps(about, ensure_ascii=False)
    pq.write_table(table.replace_schema_metadata({RECORD_NAME: text}), os.fspath(draft), compression="zstd")


def _digests(columns: Mapping[str, NDArray[np.uint32]]) -> dict[str, str]:
    """Return a SHA-256 of each column."""
    return {name: hashlib.sha256(numbers.astype("<u4").tobytes()).hexdigest() for name, numbers in columns.items()}


def digest_of(column: Column) -> str:
    """Return a SHA-256 of the values of a column, as texts, record by record.

    >>> from nominym.table import code
    >>> digest_of(code(["Ann", "Bob", "Ann"])) == digest_of(code(["Ann", "Bob", "Bob"]))
    False
    >>> digest_of(code([1, 2])) == digest_of(code(["1", "2"]))
    True
    """
    column = column.occurring()
    texts = [json.dumps(str(value)) for value in column.categories]
    numbers = np.argsort(np.argsort(np.array([*texts, ""], dtype=object), kind="stable"), kind="stable")
    found = hashlib.sha256("\n".join(sorted(texts)).encode())
    found.update(numbers.astype("<u4").take(column.codes, mode="clip").tobytes())
    return found.hexdigest()


def read_record(path: StrPath, release: StrPath, records: int, *, sha256: str | None = None) -> OwnersRecord:
    """Read the owner's record of a release with a given number of records; raise if it is of another release.

    Records of version 1 can be read too: they have no groups.
    """
    named = os.fspath(path)
    as_input(path)
    try:
        with closing(ParquetTable(path)) as table:
            about = parse_json((table.schema.metadata or {})[RECORD_NAME.encode()])
            version = about["version"]
            names = ["row", *(["group"] if "group" in table.names else [])]
            read = table.read(names, None)
            kinds = {(str(read[name].type), read[name].null_count) for name in names}
            if version not in Numbers(1, whole=True) or kinds != {("uint32", 0)}:
                raise ValueError
            columns = {name: read[name].to_numpy().astype(np.uint32) for name in names}
        newer = version > RECORD_VERSION
        digests = about["columns"] if version > 1 and not newer else None
        damaged = about["checksum"] != _checksum(about) or digests not in (None, _digests(columns))
    except MemoryError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError):
        expected = "expected the file written with the release"
        raise FormatError(f"{named} is not an owner's record; {expected}") from None
    if newer:
        raise FormatError(
            f"{named}: an owner's record of version {version}, newer than {RECORD_VERSION}, the latest known "
            "here; use a newer nominym"
        )
    if damaged:
        raise FormatError(f"{named} was damaged, or changed after it was written")
    faults = "; ".join(islice(misfits(about, _RECORD), 3))
    if faults:
        raise FormatError(f"{named} is not an owner's record that nominym wrote: {brief(faults)}")
    found = OwnersRecord(
        columns["row"], about["input"], about["seed"], _with_sizes(about["summary"]), columns.get("group")
    )
    if about.get("release") != (sha256 or fingerprint(release)["sha256"]):
        raise DataError(f"{named} is the record of a release other than {os.fspath(release)}")
    rows = found.rows
    if len(rows) != records or not np.array_equal(np.sort(rows), np.arange(records)):
        raise DataError(
            f"{named} has {len(rows):,} rows, but the input has {records:,} records; it is of another input"
        )
    return found
