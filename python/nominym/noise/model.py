"""Semantic noise fitted to a sample (Rodríguez-García 2017, chapter 6), its baselines, the exponential mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym import _core
from nominym.control import Progress, check_progress, check_seed, reporter
from nominym.error import Advice, DataError, ParameterError, warn
from nominym.meaning import Meaning, as_measure, check_meanings
from nominym.method import Result, described, finish
from nominym.noise import errors, saved
from nominym.noise.domain import Domain, check_domain, check_meaning, check_two_values, weakness_of
from nominym.stats import correlation, correlation_changes, covariances
from nominym.table import MISSING, Attribute, Change, Column, Table, check_roots

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.files import StrPath
    from nominym.noise.method import Noise

# Of a stream, fewer records may have two values by chance.
_BATCH = 30


@dataclass(eq=False, repr=False)
class NoiseModel:
    """Noise calibrated on a sample, to be added to it, to batches, or to a stream of records.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
    >>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    >>> model = nym.NoiseModel.fit(frame, masked, alpha=0.3)
    >>> first = model.transform(frame.head(10), seed=1)
    >>> len(first.data), first.summary["records"]
    (10, 10)
    """

    method: Noise
    """The fitted method."""
    domains: dict[Any, Domain]
    """Concepts that may replace values, by column."""
    samples: dict[Any, tuple[NDArray[np.uint32], NDArray[np.uint64]]]
    """For the baselines: the concepts of the sample's categories, and their frequencies."""
    means: dict[Any, int]
    """Semantic mean of the sample, by column, if it is the reference."""
    errors: NDArray[np.float64] | None
    """Covariance of the errors before ``alpha``: semantic variances, or distance variances and covariances."""
    repaired: float
    """Distance of the covariance of distances from a valid one."""
    partners: dict[Any, Any]
    """The other column of each column's pair."""
    weak: dict[Any, str] = field(default_factory=dict)
    """Weaknesses of the noise, by column, where there are any."""

    def __post_init__(self) -> None:
        """Raise on domains in which noise can be undone."""
        if self.method.method == "semantic":
            for name, domain in self.domains.items():
                check_domain(name, domain)

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
        """Find domains, references and the covariance of errors from a sample, with the options of ``add_noise``.

        As there, columns and domains of two values are errors, and domains of fewer than five values raise a warning.
        """
        from nominym.noise.method import Noise

        check_progress(progress)
        return cls.fit_table(Noise(alpha, **options), Table(frame), meanings, progress)

    @classmethod
    def fit_table(cls, method: Noise, table: Table, meanings: Mapping[Any, Meaning], progress: Progress) -> NoiseModel:
        """Fit a method to a table, coded or not."""
        given = check_meanings(meanings)
        for name, meaning in given.items():
            check_meaning(name, meaning, method)
        roots = check_roots(method.roots, given)
        columns = _coded(table, given, method.missing)
        partners = _partners(columns, given, method, progress)
        domains = _domains(columns, given, roots, partners, method)
        weak: dict[Any, str] = {}
        if method.method == "semantic":
            for name, column in columns.items():
                # Before any work is done.
                check_two_values(name, column)
                check_domain(name, domains[name])
                said = weakness_of(domains[name])
                if said is not None:
                    weak[name] = said
                    warn(f"column {name!r}: {said}")
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
        return cls(method, domains, samples, means, covariance, repaired, partners, weak)

    @property
    def params(self) -> dict[str, Any]:
        """Return how the model was made."""
        pairs = {"pairs": sorted({tuple(sorted((x, y), key=str)) for x, y in self.partners.items()}, key=str)}
        return {
            "columns": list(self.domains),
            **self.method.params(),
            **(pairs if self.partners else {}),
            "roots": {name: domain.space.root for name, domain in self.domains.items()},
        }

    def transform(self, frame: Any, *, seed: int | None = None, progress: Progress = None) -> Result:
        """Add noise to a table with the fitted columns; values outside the fitted domain are errors.

        So are, as in ``fit``, columns of two values, unless there are fewer than 30 records.
        """
        check_progress(progress)
        check_seed(seed)
        return self.mask(Table(frame), [], seed, progress)

    def mask(self, table: Table, notes: list[str], seed: int | None, progress: Progress) -> Result:
        """Add noise to a table, coded or not."""
        method, records = self.method, len(table)
        columns = _coded(table, self.domains, method.missing)
        if method.method == "semantic" and records >= _BATCH:
            for name, column in columns.items():
                check_two_values(name, column)
        before = {name: domain.attribute(name, columns[name], progress) for name, domain in self.domains.items()}
        drawn: list[Any] = [None] * len(before)
        if self.errors is not None and method.alpha is not None:
            drawn = errors.draw(records, method.alpha * self.errors, method.law, method.correlated, seed)
        changes: dict[Any, Change] = {}
        drawn_by: dict[Any, dict[str, Any]] = {}
        for i, (name, old) in enumerate(before.items()):
            with reporter(progress, "noise") as report:
                concepts, drawn_by[name] = self._replaced(name, before, drawn[i], seed, i, report)
            changes[name] = Change(old, self.domains[name].replaced(old, concepts))
        public = {name: {**each, "domain": len(self.domains[name].names)} for name, each in described(changes).items()}
        weak = [f"column {name!r}: {said}" for name, said in self.weak.items()]
        summary: dict[str, Any] = {"records": records, "attributes": public, "notes": [*notes, *weak, self._note()]}
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
            correlated = {"correlations": correlation_changes(changes)} if method.correlations else {}
            return {"attributes": realised, **correlated}

        return finish(method, table, changes, summary, measure, seed, more=self.params)

    def _note(self) -> str:
        if self.method.method == "exponential":
            return (
                f"each masked value by itself is protected by local differential privacy with ε = "
                f"{self.method.epsilon:g}; a record spends that once for each of its {len(self.domains)} masked values"
            )
        never = "; it always changes a value" if self.method.method == "semantic" else ""
        return f"noise gives no guarantee{never}; the measured risk of this release is for its owner"

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
        """Return the concept, or the concept of each record, that errors move away from."""
        if self.method.reference == "mean":
            return self.means[name]
        if self.method.reference == "root":
            return int(self.domains[name].arguments[0].root)
        other = before[self.partners[name]]
        places = np.append(other.places, MISSING)
        each: NDArray[np.uint32] = places[np.minimum(other.column.codes, np.uint32(other.size))]
        return each

    def save(self, path: StrPath) -> None:
        """Write the model to a file for ``NoiseModel.load``. It holds no record, but figures of the sample.

        The file, a ZIP archive of a JSON text, taxonomies and arrays, appears only when it is complete.
        """
        saved.write(self, path)

    @staticmethod
    def load(path: StrPath) -> NoiseModel:
        """Read a model; any other or damaged file is a ``FormatError``."""
        return saved.read(path)

    def __repr__(self) -> str:
        """Return the columns and the method."""
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
        other = next((value for value in column.categories if not isinstance(value, str)), None)
        if other is not None:
            raise DataError(
                f"holds values such as {other!r} of type {type(other).__name__}, but noise writes concepts by name",
                column=column.name,
                remedy="turn the column into text first",
            )
    return columns


def _partners(
    columns: Mapping[Any, Column], meanings: Mapping[Any, Meaning], method: Noise, progress: Progress
) -> dict[Any, Any]:
    """Find the partner of each column."""
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
                f"{x!r} and {y!r} have different taxonomies",
                parameter="reference",
                value="pair",
                remedy=Advice("use {}, or root", reference="mean"),
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
