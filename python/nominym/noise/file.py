"""Noise models in files: a ZIP archive of a JSON text, the taxonomies, and arrays of numbers."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.error import FormatError, NominymError, ParameterError
from nominym.files import draft_of
from nominym.meaning import ConceptSpace, DistanceMatrix, Measure, as_measure, read_taxonomy
from nominym.noise.domain import Domain
from nominym.noise.method import Noise
from nominym.table import Column

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from nominym.noise.model import NoiseModel

NAME = "nominym-noise"
VERSION = 2

# Options of the method that a model needs; figures for the owner are asked for anew.
_SAVED = ("alpha", "correlated", "reference", "law", "method", "epsilon")


def save(model: NoiseModel, path: str | os.PathLike[str]) -> None:
    """Write a model; the file gets its name only when it is complete."""
    unnamed = [name for name in model.domains if not isinstance(name, str)]
    if unnamed:
        raise ParameterError("only columns with names of text can be saved; rename it", column=unnamed[0])
    method, measure = model.method, as_measure(model.method.measure)
    # Columns of a pair share their domain, also in the file.
    shared = list({id(domain): domain for domain in model.domains.values()}.values())
    head: dict[str, Any] = {
        "format": NAME,
        "version": VERSION,
        "method": {name: value for name, value in method.params().items() if name in _SAVED},
        # Counts of use are kept as the information content that they give.
        "measure": {"name": measure.name, "ic": measure.ic if isinstance(measure.ic, str) else "seco", "k": measure.k},
        "columns": {name: _place(shared, domain) for name, domain in model.domains.items()},
        "domains": [{"labels": d.names} if d.taxonomy is None else {"by_label": d.by_label} for d in shared],
        "means": {name: model.domains[name].names[mean] for name, mean in model.means.items()},
        "samples": {
            name: {model.domains[name].names[p]: int(n) for p, n in zip(*sample, strict=True)}
            for name, sample in model.samples.items()
        },
        "covariance": None if model.errors is None else model.errors.tolist(),
        "repaired": model.repaired,
        "partners": model.partners,
    }
    with (
        draft_of(path) as draft,
        TemporaryDirectory() as folder,
        zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as file,
    ):
        file.writestr("model.json", json.dumps(head, ensure_ascii=False, indent=1))
        for i, domain in enumerate(shared):
            graph, _, content = domain.arguments
            if domain.taxonomy is not None:
                part = Path(folder, f"domain-{i}.parquet")
                domain.taxonomy.save(part)
                file.write(part, part.name)
            else:
                file.writestr(f"domain-{i}.npy", _to_bytes(graph))
            if content is not None:
                file.writestr(f"content-{i}.npy", _to_bytes(content))


def load(path: str | os.PathLike[str]) -> NoiseModel:
    """Read a model."""
    from nominym.noise.model import NoiseModel

    try:
        with zipfile.ZipFile(path) as file:
            head = json.loads(file.read("model.json"))
            if (head["format"], head["version"]) != (NAME, VERSION):
                raise FormatError(f"{path}: {head['format']} version {head['version']}, not {NAME} version {VERSION}")
            measure = Measure(**head["measure"])
            shared = [_domain(file, i, known, measure) for i, known in enumerate(head["domains"])]
        domains = {name: shared[i] for name, i in head["columns"].items()}
        return NoiseModel(
            Noise(measure=measure, **head["method"]),
            domains,
            {
                name: (_places(domains[name], list(known)), np.array(list(known.values()), dtype=np.uint64))
                for name, known in head["samples"].items()
            },
            {name: int(_places(domains[name], [mean])[0]) for name, mean in head["means"].items()},
            None if head["covariance"] is None else np.array(head["covariance"]),
            head["repaired"],
            head["partners"],
        )
    except FormatError:
        raise
    # Damage shows as whatever the part that meets it raises.
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, ArithmeticError, AttributeError,
            LookupError, TypeError, ValueError, RuntimeError, NominymError) as error:  # fmt: skip
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise FormatError(f"{path}: not a noise model that this version can read ({error})") from None


def _domain(file: zipfile.ZipFile, i: int, known: dict[str, Any], measure: Measure) -> Domain:
    if "labels" in known:
        matrix = DistanceMatrix(_from_bytes(file.read(f"domain-{i}.npy")), known["labels"])
        return Domain(matrix, [], measure, None)
    with TemporaryDirectory() as folder:
        taxonomy = read_taxonomy(file.extract(f"domain-{i}.parquet", folder))
    domain = Domain(taxonomy, [], measure, taxonomy.root, known["by_label"])
    if f"content-{i}.npy" in file.namelist() and isinstance(domain.space, ConceptSpace):
        domain.space.content = _from_bytes(file.read(f"content-{i}.npy"))
    return domain


def _places(domain: Domain, names: list[str]) -> NDArray[np.uint32]:
    return domain.place(Column(np.arange(len(names), dtype=np.uint32), tuple(names)))


def _place(shared: list[Domain], domain: Domain) -> int:
    return next(i for i, other in enumerate(shared) if other is domain)


def _to_bytes(array: np.ndarray[Any, Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _from_bytes(data: bytes) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = np.load(io.BytesIO(data), allow_pickle=False)
    return found
