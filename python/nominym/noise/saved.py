"""The file of a noise model: a ZIP archive of a JSON text, taxonomies and arrays.

Everything that is read is checked here, once: a loaded model works like the saved one.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.atomic import draft_of
from nominym.content import AMOUNT, Numbers, brief, misfits, parse_json, plain
from nominym.control import require
from nominym.error import FormatError, InternalError, ParameterError
from nominym.files import StrPath, as_input
from nominym.meaning import ConceptSpace, DistanceMatrix, Measure, Taxonomy, as_measure
from nominym.meaning.read import native
from nominym.noise import errors
from nominym.noise.domain import Domain, check_meaning
from nominym.table import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.noise.method import Noise
    from nominym.noise.model import NoiseModel

_NAME, _VERSION = "nominym-noise", 3

# Options of the method that a file keeps; figures for the owner are asked for anew.
_SAVED = ("alpha", "correlated", "reference", "law", "method", "epsilon")

_HEAD = "model.json"
_SHAPE = {
    "method": {f"{name}?": object for name in _SAVED},
    "measure": {"name": str, "ic": str, "k": Numbers(0, 1)},
    "columns": {str: Numbers(0, whole=True)},
    "domains": [({"labels": [str]}, {"by_label": bool})],
    "means": {str: str},
    "samples": {str: {str: Numbers(1, 2**53, whole=True)}},
    "covariance": (None, [[Numbers()]]),
    "repaired": AMOUNT,
    "partners": {str: str},
    "weak": {str: str},
}

# Nothing that is packed takes less room than this part of what it was.
_PACKED = 1032
# What an array says of itself is shorter.
_HEADER = 1 << 12


def write(model: NoiseModel, path: StrPath) -> None:
    """Write a model; the file appears when it is complete."""
    unnamed = [name for name in model.domains if not isinstance(name, str)]
    if unnamed:
        raise ParameterError("only columns whose names are texts can be saved; rename it", column=unnamed[0])
    measure = as_measure(model.method.measure)
    # Columns of a pair share their domain, also in the file.
    shared = list(dict.fromkeys(model.domains.values()))
    head: dict[str, Any] = {
        "format": _NAME,
        "version": _VERSION,
        "method": {name: value for name, value in model.method.params().items() if name in _SAVED},
        # Counts of use are kept as the information content that they give.
        "measure": {**asdict(measure), "ic": measure.ic if isinstance(measure.ic, str) else "seco"},
        "columns": {name: shared.index(domain) for name, domain in model.domains.items()},
        "domains": [{"labels": d.names} if d.taxonomy is None else {"by_label": d.by_label} for d in shared],
        "means": {name: model.domains[name].names[mean] for name, mean in model.means.items()},
        "samples": {
            name: {model.domains[name].names[place]: int(count) for place, count in zip(*sample, strict=True)}
            for name, sample in model.samples.items()
        },
        "covariance": model.errors,
        "repaired": model.repaired,
        "partners": model.partners,
        "weak": model.weak,
    }
    with draft_of(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(_HEAD, json.dumps(plain(head), ensure_ascii=False, indent=1))
        for i, domain in enumerate(shared):
            graph, _, content = domain.arguments
            if domain.taxonomy is not None:
                with file.open(f"domain-{i}.parquet", "w") as entry:
                    native.to_parquet(domain.taxonomy.to_concepts(), entry)
            for name, array in (("domain", graph), ("content", content)):
                if isinstance(array, np.ndarray):
                    with file.open(f"{name}-{i}.npy", "w") as entry:
                        np.save(entry, array, allow_pickle=False)


def read(path: StrPath) -> NoiseModel:
    """Read a model; any fault of the file is a ``FormatError`` that names it."""
    where = os.fspath(path)
    with as_input(path).open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _model(_Parts(archive, where))
        except (MemoryError, InternalError):
            raise
        # Of a damaged archive, zipfile raises whatever can be wrong with a number, a text or packed bytes.
        except Exception as error:
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise
            told = brief(str(error).removeprefix(f"{where}: "))
            raise FormatError(
                f"{where}: not a noise model that this version can read ({told})", remedy="fit the model again"
            ) from None


class _Parts:
    """The entries of an archive, each read once, when its largest possible size is known."""

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self._archive, self.where = archive, where
        entries = archive.infolist()
        twice = [name for name, times in Counter(entry.filename for entry in entries).items() if times > 1]
        for entry in entries:
            # What an entry says of its size is not believed: it could stand for more memory than there is.
            if entry.filename in twice or entry.file_size > _PACKED * entry.compress_size:
                raise FormatError(f"the entry {entry.filename!r} of the archive is damaged")
        self._sizes = {entry.filename: entry.file_size for entry in entries}

    def take(self, name: str) -> bytes:
        """Read an entry."""
        if name not in self._sizes:
            raise FormatError(f"the archive has no entry {name!r}")
        require(4 * self._sizes[name], f"{self.where}: {name}", "free some memory")
        del self._sizes[name]
        return self._archive.read(name)

    def array(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Read an entry that is an array of numbers of a given shape, whatever its header says."""
        if self._sizes.get(name, 0) > 8 * math.prod(shape) + _HEADER:
            raise FormatError(f"{name} is longer than {' × '.join(map(str, shape))} numbers")
        stream = io.BytesIO(self.take(name))
        np.lib.format.read_magic(stream)
        found, by_column, kind = np.lib.format.read_array_header_1_0(stream)
        data = stream.read()
        if found != shape or kind != np.dtype("<f8") or len(data) != 8 * math.prod(shape):
            raise FormatError(f"{name} has no {' × '.join(map(str, shape))} numbers")
        return np.frombuffer(data, "<f8").astype(np.float64).reshape(shape, order="F" if by_column else "C")

    def check_all_taken(self) -> None:
        """Raise if an archive has entries that do not belong to a model."""
        if self._sizes:
            raise FormatError(f"the archive has an entry {next(iter(self._sizes))!r}, which no model has")


def _model(parts: _Parts) -> NoiseModel:
    from nominym.noise.method import Noise
    from nominym.noise.model import NoiseModel

    head = parse_json(parts.take(_HEAD))
    found = (head.get("format"), head.get("version")) if isinstance(head, dict) else (None, None)
    if found != (_NAME, _VERSION):
        raise FormatError(f"{found[0]} version {found[1]}, not {_NAME} version {_VERSION}")
    _refuse(misfits(head, _SHAPE))
    measure = Measure(*(head["measure"][name] for name in ("name", "ic", "k")))
    method = replace(Noise.from_options(head["method"]), measure=measure)
    shared = [_domain(parts, i, known, measure) for i, known in enumerate(head["domains"])]
    parts.check_all_taken()
    if set(head["columns"].values()) != set(range(len(shared))) or not shared:
        raise FormatError("columns and domains do not belong together")
    domains = {name: shared[i] for name, i in head["columns"].items()}
    for name, domain in domains.items():
        check_meaning(name, domain.meaning, method)
    _refuse(_contradictions(head, method, domains))
    return NoiseModel(
        method,
        domains,
        {
            name: (_places(domains[name], list(known)), np.array(list(known.values()), dtype=np.uint64))
            for name, known in head["samples"].items()
        },
        {name: int(_places(domains[name], [mean])[0]) for name, mean in head["means"].items()},
        None if head["covariance"] is None else np.array(head["covariance"], dtype=np.float64),
        head["repaired"],
        head["partners"],
        head["weak"],
    )


def _refuse(faults: Iterator[str]) -> None:
    told = list(islice(faults, 3))
    if told:
        raise FormatError("; ".join(told))


def _domain(parts: _Parts, i: int, known: Mapping[str, Any], measure: Measure) -> Domain:
    if "labels" in known:
        labels = known["labels"]
        cells = parts.array(f"domain-{i}.npy", (len(labels), len(labels)))
        return Domain(DistanceMatrix(cells, labels), [], measure, None)
    name = f"domain-{i}.parquet"
    taxonomy = Taxonomy.from_concepts(native.from_parquet(parts.take(name), f"{parts.where}: {name}"))
    domain = Domain(taxonomy, [], measure, taxonomy.root, known["by_label"])
    if measure.needs_content and isinstance(domain.space, ConceptSpace):
        content = parts.array(f"content-{i}.npy", (len(taxonomy),))
        lower, upper = taxonomy.graph.edges()
        # Whatever it is derived from, a concept says no less than what is above it.
        if not (np.isfinite(content).all() and content.min() >= 0 and (content[lower] >= content[upper] - 1e-9).all()):
            raise FormatError(f"content-{i}.npy is not an information content of the concepts")
        domain.space.content = content
    return domain


def _contradictions(head: Mapping[str, Any], method: Noise, domains: Mapping[str, Domain]) -> Iterator[str]:
    """Iterate over parts that a model of this method needs and lacks, or has and does not need."""
    semantic, size = method.method == "semantic", len(domains)
    needed = {
        "means": semantic and (method.reference == "mean" or not method.correlated),
        "samples": method.method in ("naive", "probabilistic"),
        "partners": semantic and method.reference == "pair",
    }
    for name, needs in needed.items():
        if set(head[name]) != (set(domains) if needs else set()):
            yield f"{name} are not those of the columns"
    if not set(head["weak"]) <= set(domains):
        yield "weak names other columns"
    if not all(head["samples"].values()):
        yield "samples have no value"
    partners = head["partners"]
    if any(x == y or partners.get(y) != x or domains[x] is not domains.get(y) for x, y in partners.items()):
        yield "partners are not pairs of columns"
    cells = head["covariance"]
    if (cells is None) == semantic or any(len(row) != size for row in cells or ()) or len(cells or domains) != size:
        yield f"covariance has no {size} × {size} numbers"
    elif cells is not None and not errors.is_covariance(np.array(cells, dtype=np.float64)):
        yield "covariance is not a valid one"


def _places(domain: Domain, names: list[str]) -> NDArray[np.uint32]:
    return domain.place(Column(np.arange(len(names), dtype=np.uint32), tuple(names)))
