"""A damaged noise model is refused when it is loaded, or works like any other."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import nominym as nym
from damage import damaged_bytes, damaged_content, outcome
from nominym.error import FormatError, NominymError

TAX = nym.Taxonomy.from_edges([(f"{i:02}", f"{i // 2:02}") for i in range(1, 20)], labels={"07": "Seven"})
LEAVES = [f"{i:02}" for i in range(6, 20)]
DRAWN = np.random.default_rng(1)
FRAME = {name: [LEAVES[i] for i in DRAWN.integers(0, len(LEAVES), 40)] for name in ("x", "y")}
MATRIX = nym.DistanceMatrix(TAX.distance_matrix(LEAVES), LEAVES)

MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "mean": (TAX, {"alpha": 0.3}),
    "pair": (TAX, {"alpha": 0.3, "reference": "pair", "law": "laplace"}),
    "root": (TAX, {"alpha": 0.3, "reference": "root", "correlated": False}),
    "content": (TAX, {"alpha": 0.3, "measure": nym.Measure("lin", ic="zhou", k=0.25)}),
    "matrix": (MATRIX, {"alpha": 0.3}),
    "exponential": (MATRIX, {"method": "exponential", "epsilon": 2.0}),
    "probabilistic": (TAX, {"method": "probabilistic"}),
}

Entries = list[tuple[str, bytes]]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path, found = tmp_path_factory.mktemp("models") / "model.nym", {}
    for name, (meaning, options) in MODELS.items():
        nym.NoiseModel.fit(FRAME, dict.fromkeys(FRAME, meaning), **options).save(path)
        found[name] = path.read_bytes()
    return found


def entries_of(data: bytes) -> Entries:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return [(name, file.read(name)) for name in file.namelist()]


def packed(entries: Entries) -> bytes:
    held = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch, zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        patch.setattr("warnings.warn", lambda *_, **__: None)  # an entry may stand there twice
        for name, content in entries:
            file.writestr(name, content)
    return held.getvalue()


def replaced(entries: Entries, name: str, content: bytes) -> Entries:
    return [(each, content if each == name else old) for each, old in entries]


def check(path: Path, data: bytes) -> bool:
    """Load a model and use it: the file is refused, by its name, or nothing goes wrong."""
    path.write_bytes(data)
    model, refusal = outcome(lambda: nym.NoiseModel.load(path), FormatError)
    if refusal is not None:
        assert str(refusal).startswith(str(path))
        assert len(str(refusal)) < 1000
        return False
    # The domain may have other values now than the table.
    result, refusal = outcome(lambda: model.transform(dict.fromkeys(model.domains, FRAME["x"]), seed=1), NominymError)
    if refusal is None:
        assert len(result.data[next(iter(model.domains))]) == len(FRAME["x"])
        assert result.secret.summary
        assert str(result.guarantee)
    return True


@pytest.mark.filterwarnings("ignore::nominym.error.PrivacyWarning")
@pytest.mark.parametrize("name", MODELS)
def test_other_bytes(saved: dict[str, bytes], tmp_path: Path, name: str) -> None:
    loaded = [check(tmp_path / "m.nym", data) for data in damaged_bytes(saved[name], Random(name), 300)]
    assert not all(loaded)


@pytest.mark.filterwarnings("ignore::nominym.error.PrivacyWarning")
@pytest.mark.parametrize("name", MODELS)
def test_other_content(saved: dict[str, bytes], tmp_path: Path, name: str) -> None:
    entries = entries_of(saved[name])
    head = json.loads(dict(entries)["model.json"])
    loaded = 0
    for content in damaged_content(head, Random(name), 400):
        text = json.dumps(content).encode()
        loaded += check(tmp_path / "m.nym", packed(replaced(entries, "model.json", text)))
    assert 0 < loaded < 200


def as_npy(array: Any) -> bytes:
    held = io.BytesIO()
    np.save(held, array, allow_pickle=True)
    return held.getvalue()


def a_header(shape: str) -> bytes:
    """Return an array that says of itself that it is larger than it is."""
    return as_npy(np.zeros((3, 3))).replace(b"(3, 3), }" + b" " * len(shape), f"({shape}), }}".encode() + b" " * 6)


@pytest.mark.filterwarnings("ignore::nominym.error.PrivacyWarning")
@pytest.mark.parametrize("name", ["content", "matrix"])
def test_other_arrays(saved: dict[str, bytes], tmp_path: Path, name: str) -> None:
    entries = entries_of(saved[name])
    for entry, data in entries:
        if not entry.endswith(".npy"):
            continue
        array = np.load(io.BytesIO(data))
        others: list[Any] = [
            array[:-1], array.T, array[::-1], array.astype(np.float32), array.astype(">f8"), array.astype(str),
            array[0], np.asfortranarray(array), array.astype(object), array * 0, array * 1e300, array + np.nan, -array,
            array * 50, np.full_like(array, np.inf), np.full_like(array, 1e-320), array.astype(complex), array[None],
            np.zeros(0),
        ]  # fmt: skip
        for other in others:
            check(tmp_path / "m.nym", packed(replaced(entries, entry, as_npy(other))))
        for other in damaged_bytes(data, Random(entry), 200):
            check(tmp_path / "m.nym", packed(replaced(entries, entry, other)))


@pytest.mark.filterwarnings("ignore::nominym.error.PrivacyWarning")
@pytest.mark.parametrize("name", ["mean", "content", "matrix"])
def test_other_entries(saved: dict[str, bytes], tmp_path: Path, name: str) -> None:
    entries, path = entries_of(saved[name]), tmp_path / "m.nym"
    assert check(path, packed(entries[::-1]))
    for i, (entry, data) in enumerate(entries):
        assert not check(path, packed(entries[:i] + entries[i + 1 :]))
        assert not check(path, packed([*entries, (entry, data)]))
        assert not check(path, packed([*entries, (f"../{entry}", data)]))
        assert not check(path, packed(replaced(entries, entry, b"")))
        assert not check(path, packed([(f"/tmp/{each}" if each == entry else each, held) for each, held in entries]))
        for other in damaged_bytes(data, Random(entry), 100):
            check(path, packed(replaced(entries, entry, other)))
    assert [each.name for each in tmp_path.iterdir()] == ["m.nym"]
    assert not (tmp_path.parent / "model.json").exists()


class Never:
    """What must not be made while a file is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("a pickle was loaded",)


def test_what_would_take_all_memory(saved: dict[str, bytes], tmp_path: Path) -> None:
    """Sizes that a file declares are checked before anything is allocated, and pickles are never loaded."""
    entries, size = entries_of(saved["matrix"]), 1 << 26
    many = {**json.loads(dict(entries)["model.json"]), "domains": [{"labels": [str(i) for i in range(50_000)]}]}
    bomb = packed(replaced(entries, "domain-0.npy", bytes(size)))
    files = [
        packed(replaced(entries, "domain-0.npy", a_header("1000000000, 1000000000"))),
        packed(replaced(entries, "domain-0.npy", a_header("1 << 40,"))),
        packed(replaced(entries, "domain-0.npy", as_npy(np.array([Never()])))),
        packed(replaced(entries, "model.json", json.dumps(many).encode())),
        bomb,
        bomb.replace(size.to_bytes(4, "little"), (3 << 30).to_bytes(4, "little")),
    ]
    tracemalloc.start()
    try:
        for data in files:
            assert not check(tmp_path / "m.nym", data)
        assert tracemalloc.get_traced_memory()[1] < size // 2
    finally:
        tracemalloc.stop()
