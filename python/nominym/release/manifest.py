"""The manifest of a release: what it was made from, how, and what was achieved. It holds no record and no secret."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nominym._core import __version__
from nominym.error import DataError, FormatError
from nominym.plain import plain

if TYPE_CHECKING:
    from nominym.atomic import StrPath
    from nominym.taxonomy.taxonomy import Taxonomy

NAME = "nominym-manifest"
VERSION = 1
SUFFIX = ".manifest.json"


def manifest_path(release: StrPath) -> Path:
    """Give the path of the manifest of a release: beside it.

    >>> manifest_path("out/visits.csv").name
    'visits.csv.manifest.json'
    """
    return Path(f"{os.fspath(release)}{SUFFIX}")


def now() -> str:
    """Give the time, to the second, in UTC."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Manifest:
    """What is said about a release beside it.

    >>> made = Manifest(command="swap", params={"k": 10}, achieved={"bound": 0.1})
    >>> Manifest.from_json(made.to_json()) == made
    True
    """

    command: str
    """What made the release."""
    params: dict[str, Any]
    """With what arguments; a seed only if one was given."""
    achieved: dict[str, Any]
    """What was achieved, in figures."""
    input: dict[str, Any] = field(default_factory=dict)
    """Name, size and SHA-256 of the input, its rows and columns."""
    output: dict[str, Any] = field(default_factory=dict)
    """The same of the release."""
    roles: dict[str, Any] = field(default_factory=dict)
    """Columns by role; identifiers are named, and not in the release."""
    taxonomies: dict[str, Any] = field(default_factory=dict)
    """Name, size and fingerprint of the taxonomy of each column."""
    order: str = "shuffled"
    """Whether the rows are "shuffled" or "kept" in the order of the input."""
    notes: list[str] = field(default_factory=list)
    """What a reader should not miss."""
    made: str = field(default_factory=now)
    """When."""
    version: str = __version__
    """Version of nominym."""

    def to_json(self) -> str:
        """Give the text of the file."""
        content = {"format": NAME, "format_version": VERSION, **plain(asdict(self))}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"

    @staticmethod
    def from_json(text: str, where: str = "manifest") -> Manifest:
        """Read the text of a file."""
        try:
            content = json.loads(text)
            found = content["format"], content["format_version"]
        except (ValueError, KeyError, TypeError):
            raise FormatError(f"{where} is no manifest of a release; expected JSON with format {NAME!r}") from None
        if found != (NAME, VERSION):
            raise FormatError(f"{where}: format {found[0]!r} version {found[1]!r}, not {NAME!r} version {VERSION}")
        known = [each.name for each in fields(Manifest)]
        try:
            return Manifest(**{name: value for name, value in content.items() if name in known})
        except TypeError as error:
            raise FormatError(f"{where}: not a whole manifest ({error})") from None

    def check(self, release: StrPath) -> None:
        """Refuse a release that is not the one this manifest is about."""
        found = fingerprint(release)["sha256"]
        if found != self.output.get("sha256"):
            raise DataError(
                f"{manifest_path(release)} is not about {os.fspath(release)} as it is now: the file was changed, or "
                "its writing was cut short; make the release anew"
            )


def read_manifest(release: StrPath) -> Manifest:
    """Read the manifest of a release, given the path of either.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "visits.csv")
    ...     _ = manifest_path(path).write_text(Manifest("swap", {"k": 10}, {}).to_json())
    ...     read_manifest(path).params
    {'k': 10}
    """
    path = Path(release) if os.fspath(release).endswith(SUFFIX) else manifest_path(release)
    try:
        return Manifest.from_json(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise FormatError(f"{path} is no manifest of a release; expected UTF-8 text") from None


def fingerprint(path: StrPath) -> dict[str, Any]:
    """Give name, size and SHA-256 of a file; not its folder, which may tell more than it should."""
    digest, size = hashlib.sha256(), 0
    with Path(path).open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
            size += len(part)
    return {"name": Path(path).name, "bytes": size, "sha256": digest.hexdigest()}


def of_taxonomy(tax: Taxonomy, source: str) -> dict[str, Any]:
    """Give name, size and SHA-256 of a taxonomy: of what it says, whatever file says it."""
    held = tax.to_concepts()
    links = sorted(zip(held.child, held.parent, strict=True))
    names = sorted(held.labels.items()), sorted((i, sorted(n)) for i, n in held.synonyms.items())
    said = json.dumps([sorted(held.ids), links, names], ensure_ascii=False, separators=(",", ":"))
    return {
        "name": Path(source).name,
        "concepts": len(tax),
        "links": tax.links,
        "root": tax.root,
        "sha256": hashlib.sha256(said.encode()).hexdigest(),
    }
