"""Noise models in files: a ZIP archive of a JSON text, the taxonomies, and arrays of numbers."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.atomic import draft_of
from nominym.error import FormatError, NominymError, ParameterError
from nominym.noise.domain import Domain
from nominym.noise.request import Request
from nominym.taxonomy import read_taxonomy
from nominym.taxonomy.matrix import DistanceMatrix
from nominym.taxonomy.measure import Measure
from nominym.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    import os

    from nominym.noise.model import NoiseModel

NAME = "nominym-noise"
VERSION = 1


def save(model: NoiseModel, path: str | os.PathLike[str]) -> None:
    """Write a model; the file gets its name only when it is complete."""
    unnamed = [name for name in model.domains if not isinstance(name, str)]
    if unnamed:
        raise ParameterError(f"column {unnamed[0]!r}: only columns with names of text can be saved; rename it")
    request = model.request
    # Columns of a pair share their domain, also in the file.
    shared = list({id(domain): domain for domain in model.domains.values()}.values())
    head: dict[str, Any] = {
        "format": NAME,
        "version": VERSION,
        "request": {
            "method": request.method,
            "alpha": request.alpha,
            "epsilon": request.epsilon,
            "correlated": request.correlated,
            "reference": request.reference,
            "law": request.law,
        },
        # Counts of use are kept as the information content that they give.
        "measure": {"name": request.measure.name, "ic": _known_content(request.measure), "k": request.measure.k},
        "columns": {name: _place(shared, domain) for name, domain in model.domains.items()},
        "domains": [
            {"labels": d.names} if isinstance(d.semantics, DistanceMatrix) else {"by_label": d.by_label} for d in shared
        ],
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
            if isinstance(domain.semantics, Taxonomy):
                part = Path(folder, f"domain-{i}.parquet")
                domain.semantics.save(part)
                file.write(part, part.name)
            else:
                file.writestr(f"domain-{i}.npy", _to_bytes(domain.semantics.matrix))
            if domain.space.content is not None:
                file.writestr(f"content-{i}.npy", _to_bytes(domain.space.content))


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
            Request(measure=measure, **head["request"]),
            domains,
            {
                name: (domains[name].semantics.concepts(list(known)), np.array(list(known.values()), dtype=np.uint64))
                for name, known in head["samples"].items()
            },
            {name: int(domains[name].semantics.concepts([mean])[0]) for name, mean in head["means"].items()},
            None if head["covariance"] is None else np.array(head["covariance"]),
            head["repaired"],
            head["partners"],
        )
    except FormatError:
        raise
    except (zipfile.BadZipFile, json.JSONDecodeError, KeyError, TypeError, ValueError, NominymError) as error:
        raise FormatError(f"{path}: not a noise model that this version can read ({error})") from None


def _domain(file: zipfile.ZipFile, i: int, known: dict[str, Any], measure: Measure) -> Domain:
    if "labels" in known:
        matrix = DistanceMatrix(_from_bytes(file.read(f"domain-{i}.npy")), known["labels"])
        return Domain(matrix, [], measure, None)
    with TemporaryDirectory() as folder:
        taxonomy = read_taxonomy(file.extract(f"domain-{i}.parquet", folder))
    domain = Domain(taxonomy, [], measure, taxonomy.root, known["by_label"])
    if f"content-{i}.npy" in file.namelist():
        domain.space.content = _from_bytes(file.read(f"content-{i}.npy"))
    return domain


def _known_content(measure: Measure) -> str:
    return measure.ic if isinstance(measure.ic, str) else "seco"


def _place(shared: list[Domain], domain: Domain) -> int:
    return next(i for i, other in enumerate(shared) if other is domain)


def _to_bytes(array: np.ndarray[Any, Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _from_bytes(data: bytes) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = np.load(io.BytesIO(data), allow_pickle=False)
    return found
