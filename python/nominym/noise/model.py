"""Semantic noise fitted to a sample (Rodríguez-García 2017, chapter 6), its baselines, the exponential mechanism."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym import _core
from nominym.control import Progress, check_progress, check_seed, reporter
from nominym.error import ParameterError
from nominym.meaning import DistanceMatrix, Meaning, as_measure, check_meanings
from nominym.method import Result, Secret, made_with
from nominym.noise import errors
from nominym.noise.domain import Domain, check_meaning, require_text
from nominym.stats import correlation, correlation_changes, covariances
from nominym.table import MISSING, Attribute, Change, Column, Comparison, Table, check_roots

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from nominym.noise.method import Noise


class NoiseModel:
    """Noise calibrated on a sample, to be added to it, to batches, or to a stream, record by record.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
    >>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    >>> model = nym.NoiseModel.fit(frame, masked, alpha=0.3)
    >>> first = model.transform(frame.head(10), seed=1)
    >>> len(first.data), first.summary["records"]
    (10, 10)
    """

    def __init__(
        self,
        method: Noise,
        domains: Mapping[Any, Domain],
        samples: Mapping[Any, tuple[NDArray[np.uint32], NDArray[np.uint64]]],
        means: Mapping[Any, int],
        covariance: NDArray[np.float64] | None,
        repaired: float,
        partners: Mapping[Any, Any],
    ) -> None:
        """Hold what was fitted; ``NoiseModel.fit`` and ``NoiseModel.load`` make models."""
        self.method = method
        """The method that was fitted."""
        self.domains: dict[Any, Domain] = dict(domains)
        """Concepts that may replace values, by column."""
        self.samples = dict(samples)
        """For the baselines: the concepts of the sample's categories, and how frequent they are."""
        self.means: dict[Any, int] = dict(means)
        """Semantic mean of the sample, by column, where it is the reference."""
        self.errors = covariance
        """Covariance of the errors before ``alpha``: semantic variances, or distance variances and covariances."""
        self.repaired = repaired
        """How far the covariance of distances was from one that errors can have."""
        self.partners = dict(partners)
        """The other column of each column's pair."""

    @classmethod
    def fit(
        cls,
        frame: Any,
        meanings: Mapping[Any, Meaning],
        alpha: float | None = None,
        *,
        progress: Progress = None,
        **options: Any,
    ) -> NoiseModel:
        """Find domains, references and the covariance of errors from a sample; options are those of ``add_noise``."""
        from nominym.noise.method import Noise

        check_progress(progress)
        return cls.fit_table(Noise(alpha, **options), Table(frame), meanings, progress)

    @classmethod
    def fit_table(cls, method: Noise, table: Table, meanings: Mapping[Any, Meaning], progress: Progress) -> NoiseModel:
        """Fit a method to a table that is coded already, or will be."""
        given = check_meanings(meanings)
        for name, meaning in given.items():
            check_meaning(name, meaning, method.by_distance)
        roots = check_roots(method.roots, given)
        columns = _coded(table, given, method.missing)
        partners = _partners(columns, given, method, progress)
        domains = _domains(columns, given, roots, partners, method)
        fitted = {name: domains[name].attribute(name, column, progress) for name, column in columns.items()}
        means, covariance, repaired, samples = {}, None, 0.0, {}
        if method.method in ("naive", "probabilistic"):
            samples = {name: (attribute.places, attribute.column.counts) for name, attribute in fitted.items()}
        if method.method == "semantic":
            if method.reference == "mean" or not method.correlated:
                means = {name: attribute.mean for name, attribute in fitted.items()}
            if method.correlated:
                covariance, repaired = errors.nearest_covariance(covariances(list(fitted.values()), progress))
            else:
                covariance = np.diag([attribute.variance for attribute in fitted.values()])
        return cls(method, domains, samples, means, covariance, repaired, partners)

    @property
    def params(self) -> dict[str, Any]:
        """How the model was made."""
        pairs = {"pairs": sorted({tuple(sorted((x, y), key=str)) for x, y in self.partners.items()}, key=str)}
        return {
            "columns": list(self.domains),
            **self.method.params(),
            **(pairs if self.partners else {}),
            "roots": {name: domain.space.root for name, domain in self.domains.items()},
        }

    def transform(self, frame: Any, *, seed: int | None = None, progress: Progress = None) -> Result:
        """Add noise to a table with the fitted columns; values outside the fitted domain are refused."""
        check_progress(progress)
        check_seed(seed)
        return self.mask(Table(frame), [], seed, progress)

    def mask(self, table: Table, notes: list[str], seed: int | None, progress: Progress) -> Result:
        """Add noise to a table that is coded already, or will be."""
        method, records = self.method, len(table)
        columns = _coded(table, self.domains, method.missing)
        before = {name: domain.attribute(name, columns[name], progress) for name, domain in self.domains.items()}
        drawn = self._drawn(records, seed)
        changes: dict[Any, Change] = {}
        drawn_by: dict[Any, dict[str, Any]] = {}
        for i, (name, old) in enumerate(before.items()):
            with reporter(progress, "noise") as report:
                concepts, drawn_by[name] = self._replaced(name, before, drawn[i], seed, i, report)
            changes[name] = Change(old, self.domains[name].replaced(old, concepts))
        masked = table.replaced({name: change.after.column for name, change in changes.items()})
        public = {
            name: {
                "categories": old.size,
                "missing": old.column.missing,
                "root": old.root,
                "domain": len(self.domains[name]),
            }
            for name, old in before.items()
        }
        summary: dict[str, Any] = {"records": records, "attributes": public, "notes": [*notes, *self._notes()]}
        if method.method == "semantic":
            summary["covariance_repaired"] = self.repaired

        def measure() -> dict[str, Any]:
            realised = {
                name: {
                    **public[name],
                    **drawn_by[name],
                    "rmse": change.rmse,
                    "unchanged": change.unchanged,
                    **(_moments(change, method.alpha) if method.moments and change.records else {}),
                }
                for name, change in changes.items()
            }
            correlated = {"correlations": correlation_changes(changes, progress)} if method.correlations else {}
            return {**summary, "attributes": realised, **correlated}

        owners = Secret(measure, Comparison(table, masked, changes), None if seed is None else operator.index(seed))
        return Result(masked.data, method, {**self.params, **made_with(seed)}, summary, owners)

    def _notes(self) -> list[str]:
        if self.method.method == "exponential":
            return [
                f"each masked value by itself is protected by local differential privacy with ε = "
                f"{self.method.epsilon:g}; a record spends that once for each of its {len(self.domains)} masked values"
            ]
        return ["noise gives no guarantee; the measured risk of this release is for its owner"]

    def _drawn(self, records: int, seed: int | None) -> list[NDArray[np.float64] | None]:
        method = self.method
        if self.errors is None or method.alpha is None:
            return [None] * len(self.domains)
        return [*errors.draw(records, method.alpha * self.errors, method.law, method.correlated, seed)]

    def _replaced(
        self,
        name: Any,
        before: Mapping[Any, Attribute],
        error: NDArray[np.float64] | None,
        seed: int | None,
        number: int,
        report: Any,
    ) -> tuple[NDArray[np.uint32], dict[str, Any]]:
        old, domain = before[name], self.domains[name]
        codes = old.column.codes
        graph, measure, content = domain.arguments
        if error is not None:
            known = codes != MISSING
            concepts, short, undirected = _core.shift_values(
                graph, old.places, codes, error, self._reference(name, before), measure, content, seed, number, report
            )
            count = max(int(known.sum()), 1)
            target = float(np.sqrt(np.mean(error[known] ** 2))) if known.any() else 0.0
            return concepts, {"target_rmse": target, "truncated": short / count, "undirected": undirected / count}
        if self.method.epsilon is not None:
            epsilon = self.method.epsilon
            return _core.draw_values(graph, old.places, codes, epsilon, measure, content, seed, number, report), {}
        places, counts = self.samples[name]
        sums = np.cumsum(counts if self.method.method == "probabilistic" else np.ones_like(counts))
        uniform = _core.draw_uniform(len(codes), seed, number)
        chosen = places[np.searchsorted(sums, uniform * int(sums[-1]), side="right")]
        return np.where(codes == MISSING, MISSING, chosen), {}

    def _reference(self, name: Any, before: Mapping[Any, Attribute]) -> int | NDArray[np.uint32]:
        """Return the concept, or the concept of each record, that errors push away from."""
        if self.method.reference == "mean":
            return self.means[name]
        if self.method.reference == "root":
            taxonomy = self.domains[name].taxonomy
            assert taxonomy is not None
            return taxonomy.graph.root
        other = before[self.partners[name]]
        places = np.append(other.places, MISSING)
        each: NDArray[np.uint32] = places[np.minimum(other.column.codes, np.uint32(other.size))]
        return each

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``NoiseModel.load`` reads. It holds no record, but figures of the sample."""
        from nominym.noise import file

        file.save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> NoiseModel:
        """Read a model."""
        from nominym.noise import file

        return file.load(path)

    def __repr__(self) -> str:
        """Name the columns and the method."""
        return f"<NoiseModel of {', '.join(map(str, self.domains))}: {self.method!r}>"


def _moments(change: Change, alpha: float | None) -> dict[str, Any]:
    """Compare mean and variance before and after."""
    space, sides = change.space, (change.before, change.after)
    first, second = (np.array([side.mean], dtype=np.uint32) for side in sides)
    found = {
        "mean_before": space.name(change.before.mean),
        "mean_after": space.name(change.after.mean),
        "mean_distance": float(space.pairs(first, second)[0]),
        "variance_before": change.before.variance,
        "variance_after": change.after.variance,
    }
    return found if alpha is None else {**found, "variance_expected": (1 + alpha) * change.before.variance}


def _coded(table: Table, names: Mapping[Any, Any], missing: Any) -> dict[Any, Column]:
    columns = {name: table.column(name) for name in names}
    for column in columns.values():
        column.check_missing(missing)
        require_text(column)
    return columns


def _partners(
    columns: Mapping[Any, Column], meanings: Mapping[Any, Meaning], method: Noise, progress: Progress
) -> dict[Any, Any]:
    """Find for each column the one it goes with."""
    if method.method != "semantic" or method.reference != "pair":
        return {}
    partners: dict[Any, Any] = {}
    for pair in _strongest(columns, meanings, method, progress) if method.pairs is None else method.pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or any(name not in columns for name in pair):
            raise ParameterError(
                f"{pair!r} is not two of the columns to mask: {', '.join(map(str, columns))}", parameter="pairs"
            )
        x, y = pair
        if x == y or x in partners or y in partners:
            raise ParameterError(
                f"{x!r} and {y!r}: each column belongs to one pair, with another column", parameter="pairs"
            )
        if meanings[x] is not meanings[y]:
            raise ParameterError(
                f"{x!r} and {y!r} have different taxonomies; use reference='mean' or 'root'", parameter="pairs"
            )
        partners[x], partners[y] = y, x
    alone = [name for name in columns if name not in partners]
    if alone:
        raise ParameterError(
            f"column {alone[0]!r} has no partner with the same taxonomy",
            parameter="reference",
            value="pair",
            remedy="use 'mean' or 'root', or leave the column out",
        )
    return partners


def _strongest(
    columns: Mapping[Any, Column], meanings: Mapping[Any, Meaning], method: Noise, progress: Progress
) -> list[tuple[Any, Any]]:
    """Pair columns with the same taxonomy, those with the highest distance correlation first."""
    alike = [pair for pair in combinations(columns, 2) if meanings[pair[0]] is meanings[pair[1]]]
    strength = {}
    for x, y in alike:
        domain = Domain(meanings[x], [columns[x], columns[y]], as_measure(method.measure), None)
        first, second = (domain.attribute(name, columns[name], progress) for name in (x, y))
        strength[x, y] = correlation(first, second, progress)
    chosen: list[tuple[Any, Any]] = []
    for pair in sorted(alike, key=lambda pair: -strength[pair]):
        if not any(name in taken for taken in chosen for name in pair):
            chosen.append(pair)
    return chosen


def _domains(
    columns: Mapping[Any, Column],
    meanings: Mapping[Any, Meaning],
    roots: Mapping[Any, object],
    partners: Mapping[Any, Any],
    method: Noise,
) -> dict[Any, Domain]:
    """Find the domain of each column; columns of a pair share one."""
    domains: dict[Any, Domain] = {}
    for name, column in columns.items():
        if method.method == "semantic" and method.reference == "root" and isinstance(meanings[name], DistanceMatrix):
            raise ParameterError("a distance matrix has no root; use reference='mean' or 'pair'", column=name)
        other = partners.get(name)
        if other in domains:
            domains[name] = domains[other]
            continue
        together = [column] if other is None else [column, columns[other]]
        tops = {roots[x] for x in (name, other) if x in roots}
        if len(tops) > 1:
            raise ParameterError(
                f"{name!r} and {other!r} are a pair and share one domain; give one concept for both", parameter="roots"
            )
        domains[name] = Domain(meanings[name], together, as_measure(method.measure), next(iter(tops), None))
    return domains
