"""Semantic noise addition (Rodríguez-García 2017, chapter 6), its baselines, and the exponential mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import ParameterError
from nominym.frame import MISSING, Column, Missing, Table, by_name, check_missing
from nominym.noise import achieved, errors
from nominym.noise.achieved import Before
from nominym.noise.domain import Domain, require_shares, require_text, written
from nominym.noise.request import Law, Method, Reference, Request
from nominym.result import Result
from nominym.rng import check_seed
from nominym.stats.semantic import correlation, covariances
from nominym.taxonomy.matrix import DistanceMatrix
from nominym.taxonomy.measure import as_measure
from nominym.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from nominym.taxonomy.measure import Measure
    from nominym.taxonomy.space import Semantics

Pairs = Sequence[tuple[Any, Any]]

# Streams of random numbers for the choice among concepts, one range for each column.
_CHOICE, _RANGE = 10_000, 1_000


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
        request: Request,
        domains: Mapping[Any, Domain],
        samples: Mapping[Any, tuple[NDArray[np.uint32], NDArray[np.uint64]]],
        means: Mapping[Any, int],
        covariance: NDArray[np.float64] | None,
        repaired: float,
        partners: Mapping[Any, Any],
    ) -> None:
        """Hold what was fitted; ``NoiseModel.fit`` and ``NoiseModel.load`` make models."""
        self.request = request
        """What was asked."""
        self.domains = dict(domains)
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
        taxonomies: Mapping[Any, Semantics],
        alpha: float | None = None,
        *,
        correlated: bool = True,
        reference: Reference = "mean",
        domain: Mapping[Any, object] | None = None,
        pairs: Pairs | None = None,
        law: Law = "normal",
        method: Method = "semantic",
        epsilon: float | None = None,
        measure: str | Measure = "wu-palmer",
        missing: Missing = "keep",
        progress: Progress = None,
    ) -> NoiseModel:
        """Find domains, references and the covariance of errors from a sample; arguments as for ``add_noise``."""
        request = Request(method, alpha, epsilon, correlated, reference, law, as_measure(measure))
        table = _checked(frame, taxonomies, request, domain, missing, progress)
        columns = _coded(table, taxonomies, missing)
        return cls._fit(columns, taxonomies, request, dict(domain or {}), pairs, progress)

    @classmethod
    def _fit(
        cls,
        columns: Mapping[Any, Column],
        taxonomies: Mapping[Any, Semantics],
        request: Request,
        given: Mapping[Any, object],
        pairs: Pairs | None,
        progress: Progress,
    ) -> NoiseModel:
        partners = _partners(columns, taxonomies, pairs, request, progress)
        domains = _domains(columns, taxonomies, given, partners, request)
        places = {name: domains[name].place(column) for name, column in columns.items()}
        means, covariance, repaired, samples = {}, None, 0.0, {}
        if request.method in ("naive", "probabilistic"):
            samples = {name: (places[name], column.counts) for name, column in columns.items()}
        if request.method == "semantic":
            if request.reference == "mean" or not request.correlated:
                means = {n: domains[n].space.mean(places[n], c.counts, progress) for n, c in columns.items()}
            if request.correlated:
                distances = [domains[name].space.matrix(places[name], progress) for name in columns]
                codes = [column.codes for column in columns.values()]
                covariance, repaired = errors.nearest_covariance(covariances(codes, distances, progress))
            else:
                covariance = np.diag([_variance(domains[n], places[n], c.counts, means[n]) for n, c in columns.items()])
        return cls(request, domains, samples, means, covariance, repaired, partners)

    @property
    def params(self) -> dict[str, Any]:
        """How the model was made."""
        pairs = {"pairs": sorted({tuple(sorted((x, y), key=str)) for x, y in self.partners.items()}, key=str)}
        return {
            "columns": list(self.domains),
            **self.request.params(),
            **(pairs if self.partners else {}),
            "domain": {name: domain.root for name, domain in self.domains.items()},
            "version": _core.__version__,
        }

    def transform(
        self,
        frame: Any,
        *,
        correlations: bool = False,
        moments: bool = True,
        seed: int | None = None,
        missing: Missing = "keep",
        progress: Progress = None,
    ) -> Result:
        """Add noise to a table with the fitted columns; values outside the fitted domain are refused."""
        check_missing(missing)
        check_progress(progress)
        check_seed(seed)
        table = Table(frame)
        table.check_lengths()
        columns = _coded(table, self.domains, missing)
        return self._mask(table, columns, correlations, moments, seed, missing, progress)

    def _mask(
        self,
        table: Table,
        columns: Mapping[Any, Column],
        correlations: bool,
        moments: bool,
        seed: int | None,
        missing: Missing,
        progress: Progress,
    ) -> Result:
        before: dict[Any, Before] = {}
        for name, domain in self.domains.items():
            before[name] = Before(domain, columns[name], domain.place(columns[name]))
        records = len(next(iter(before.values())).column)
        drawn = self._drawn(records, seed)
        after: dict[Any, tuple[Column, NDArray[np.uint32]]] = {}
        attributes = {}
        for i, (name, old) in enumerate(before.items()):
            with reporter(progress, "noise") as report:
                concepts, told = self._replaced(name, before, drawn[i], seed, _CHOICE + _RANGE * i, report)
            after[name] = written(concepts, old.domain.spellings, old.column.name)
            attributes[name] = told | achieved.of_column(old, *after[name])
            if moments and attributes[name]["missing"] < records:
                figures = achieved.of_moments(old, *after[name], progress)
                if self.request.alpha is not None:
                    figures["variance_expected"] = (1 + self.request.alpha) * figures["variance_before"]
                attributes[name] |= figures
        summary: dict[str, Any] = {"records": records, "attributes": attributes}
        if self.request.method == "semantic":
            summary["covariance_repaired"] = self.repaired
        if correlations:
            summary["correlations"] = achieved.of_correlations(before, after, progress)
        params = {**self.params, "missing": missing, **({} if seed is None else {"seed": int(seed)})}
        data = table.replace({name: column for name, (column, _) in after.items()}, occurring=True)
        return Result(data, params, summary)

    def _drawn(self, records: int, seed: int | None) -> list[NDArray[np.float64] | None]:
        request = self.request
        if self.errors is None or request.alpha is None:
            return [None] * len(self.domains)
        return [*errors.draw(records, request.alpha * self.errors, request.law, request.correlated, seed)]

    def _replaced(
        self,
        name: Any,
        before: Mapping[Any, Before],
        error: NDArray[np.float64] | None,
        seed: int | None,
        stream: int,
        report: Any,
    ) -> tuple[NDArray[np.uint32], dict[str, Any]]:
        old = before[name]
        column, domain = old.column, old.domain
        if error is not None:
            known = column.codes != MISSING
            graph, measure, content = domain.arguments
            concepts, short, undirected = _core.shift_values(
                graph,
                old.places,
                column.codes,
                error,
                self._towards(name, before),
                measure,
                content,
                seed,
                stream,
                report,
            )
            count = max(int(known.sum()), 1)
            target = float(np.sqrt(np.mean(error[known] ** 2))) if known.any() else 0.0
            return concepts, {"target_rmse": target, "truncated": short / count, "undirected": undirected / count}
        if self.request.epsilon is not None:
            graph, measure, content = domain.arguments
            found = _core.draw_values(
                graph, old.places, column.codes, self.request.epsilon, measure, content, seed, stream, report
            )
            return found, {}
        places, counts = self.samples[name]
        weights = counts if self.request.method == "probabilistic" else np.ones_like(counts)
        sums = np.cumsum(weights)
        uniform = _core.draw_uniform(len(column), seed, stream)
        chosen = places[np.searchsorted(sums, uniform * int(sums[-1]), side="right")]
        return np.where(column.codes == MISSING, MISSING, chosen), {}

    def _towards(self, name: Any, before: Mapping[Any, Before]) -> int | NDArray[np.uint32]:
        """Give the concept, or the concept of each record, that errors push away from."""
        if self.request.reference == "mean":
            return self.means[name]
        if self.request.reference == "root":
            semantics = self.domains[name].semantics
            assert isinstance(semantics, Taxonomy)
            return semantics.graph.root
        other = before[self.partners[name]]
        places = np.append(other.places, MISSING)
        each: NDArray[np.uint32] = places[np.minimum(other.column.codes, np.uint32(len(other.places)))]
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
        """Say what the model is for."""
        columns = ", ".join(map(str, self.domains))
        shown = ", ".join(f"{name}={value!r}" for name, value in self.request.params().items())
        return f"<NoiseModel of {columns}: {shown}>"


def add_noise(
    frame: Any,
    taxonomies: Mapping[Any, Semantics],
    alpha: float | None = None,
    *,
    correlated: bool = True,
    reference: Reference = "mean",
    domain: Mapping[Any, object] | None = None,
    pairs: Pairs | None = None,
    law: Law = "normal",
    method: Method = "semantic",
    epsilon: float | None = None,
    measure: str | Measure = "wu-palmer",
    correlations: bool = False,
    moments: bool = True,
    seed: int | None = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> Result:
    """Replace values by concepts as far away as a drawn error says.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
    >>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    >>> res = nym.add_noise(frame, masked, alpha=0.3, seed=1)
    >>> figures = res.summary["attributes"]["diagnosis"]
    >>> figures["rmse"] >= figures["target_rmse"]
    True

    Parameters
    ----------
    frame
        A pandas or polars frame, an Arrow table or a mapping of columns. It is not changed.
    taxonomies
        Which columns to mask, and what their values mean: a ``Taxonomy`` or a ``DistanceMatrix`` by column name.
    alpha
        How much noise: the variance of errors is ``alpha`` times that of the column.
    correlated
        Errors of a record go together as its columns do (covariance of distances), or are independent.
    reference
        What a positive error moves away from, and a negative one towards: "mean" (SNA-1, keeps the semantic mean),
        "pair" (SNA-2, the value of another column in the same record, keeps their correlation; same taxonomy), "root"
        (SNA-3).
    domain
        By column, the concept below which replacements are looked for; by default the least common subsumer of the
        column.
    pairs
        For "pair", disjoint pairs of columns; by default those with the highest distance correlation.
    law
        "normal", or "laplace" with the same variance.
    method
        "semantic"; "exponential": each concept with a chance in proportion to exp(−epsilon·distance/2); or the
        baselines "naive" (any category of the column) and "probabilistic" (as frequent as it is).
    epsilon
        For "exponential", what is spent on each value. See docs/noise.md for what that does and does not promise.
    measure
        A distance within [0, 1].
    correlations
        Also compare the distance correlations of all pairs of columns before and after.
    moments
        Compare semantic means and variances; O(categories × concepts), which for large domains is most of the work.
    seed, missing, progress
        As everywhere: a seed is for studies; "keep" leaves missing cells as they are; ``True`` shows a bar.

    Returns
    -------
    Result
        ``data``, ``params`` and ``summary``. For each column, ``summary["attributes"]`` has ``target_rmse`` (of the
        errors drawn) and ``rmse``, the share ``truncated`` (nothing was as far away), the share ``undirected`` (nothing
        lay in the direction of the error), ``unchanged``, means and variances before and after;
        ``covariance_repaired`` is how far the covariance of distances was from one that errors can have, 0 as a rule.

    Rodríguez-García (2017), Semantic perturbative privacy-preserving methods for nominal data, chapter 6.
    """
    check_seed(seed)
    request = Request(method, alpha, epsilon, correlated, reference, law, as_measure(measure))
    table = _checked(frame, taxonomies, request, domain, missing, progress)
    columns = _coded(table, taxonomies, missing)
    model = NoiseModel._fit(columns, taxonomies, request, dict(domain or {}), pairs, progress)
    return model._mask(table, columns, correlations, moments, seed, missing, progress)


def _checked(
    frame: Any,
    taxonomies: Mapping[Any, Any],
    request: Request,
    domain: Mapping[Any, object] | None,
    missing: Missing,
    progress: Progress,
) -> Table:
    check_missing(missing)
    check_progress(progress)
    table = Table(frame)
    if not isinstance(taxonomies, Mapping) or not taxonomies:
        raise ParameterError(
            "taxonomies: a mapping from column names to taxonomies is needed, with one column at least"
        )
    for name, semantics in taxonomies.items():
        if not isinstance(semantics, Taxonomy | DistanceMatrix):
            raise ParameterError(
                f"column {name!r}: a Taxonomy or a DistanceMatrix is needed, not {type(semantics).__name__}"
            )
        if request.by_distance:
            require_shares(name, semantics)
    if domain is not None and not isinstance(domain, Mapping):
        raise ParameterError(f"domain: a mapping from column names to concepts is needed, not {type(domain).__name__}")
    unknown = [name for name in domain or {} if name not in taxonomies]
    if unknown:
        raise ParameterError(
            f"domain: {unknown[0]!r} is not among the columns to mask: {', '.join(map(str, taxonomies))}"
        )
    table.check_lengths()
    return table


def _coded(table: Table, names: Iterable[Any], missing: Missing) -> dict[Any, Column]:
    """Code columns; categories are numbered by name, so that a seed means the same whatever holds the table."""
    columns = {name: by_name(table.code(name, missing)) for name in names}
    for column in columns.values():
        require_text(column)
    return columns


def _partners(
    columns: Mapping[Any, Column],
    taxonomies: Mapping[Any, Semantics],
    pairs: Pairs | None,
    request: Request,
    progress: Progress,
) -> dict[Any, Any]:
    """Find for each column the one it goes with."""
    wanted = request.method == "semantic" and request.reference == "pair"
    if not wanted:
        if pairs is not None:
            raise ParameterError("pairs= has a meaning with reference='pair' only")
        return {}
    chosen = _chosen(columns, taxonomies, request, progress) if pairs is None else list(pairs)
    partners: dict[Any, Any] = {}
    for pair in chosen:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or any(name not in columns for name in pair):
            raise ParameterError(f"pairs: {pair!r} is not two of the columns to mask: {', '.join(map(str, columns))}")
        x, y = pair
        if x == y or x in partners or y in partners:
            raise ParameterError(f"pairs: {x!r} and {y!r}: each column belongs to one pair, with another column")
        if taxonomies[x] is not taxonomies[y]:
            raise ParameterError(f"pairs: {x!r} and {y!r} have different taxonomies; use reference='mean' or 'root'")
        partners[x], partners[y] = y, x
    alone = [name for name in columns if name not in partners]
    if alone:
        raise ParameterError(
            f"reference='pair': column {alone[0]!r} has no partner with the same taxonomy; use reference='mean' or "
            "'root', or leave the column out"
        )
    return partners


def _chosen(
    columns: Mapping[Any, Column], taxonomies: Mapping[Any, Semantics], request: Request, progress: Progress
) -> list[tuple[Any, Any]]:
    """Pair columns with the same taxonomy, those with the highest distance correlation first."""
    alike = [pair for pair in combinations(columns, 2) if taxonomies[pair[0]] is taxonomies[pair[1]]]
    strength = {}
    for x, y in alike:
        domain = Domain(taxonomies[x], [columns[x], columns[y]], request.measure, None)
        a, b = (domain.space.matrix(domain.place(columns[name]), progress) for name in (x, y))
        strength[x, y] = correlation(columns[x].codes, columns[y].codes, a, b, progress)
    chosen: list[tuple[Any, Any]] = []
    for pair in sorted(alike, key=lambda pair: -strength[pair]):
        if not any(name in taken for taken in chosen for name in pair):
            chosen.append(pair)
    return chosen


def _domains(
    columns: Mapping[Any, Column],
    taxonomies: Mapping[Any, Semantics],
    given: Mapping[Any, object],
    partners: Mapping[Any, Any],
    request: Request,
) -> dict[Any, Domain]:
    """Find the domain of each column; columns of a pair share one."""
    domains: dict[Any, Domain] = {}
    for name, column in columns.items():
        if (
            request.method == "semantic"
            and request.reference == "root"
            and isinstance(taxonomies[name], DistanceMatrix)
        ):
            raise ParameterError(f"column {name!r}: a distance matrix has no root; use reference='mean' or 'pair'")
        other = partners.get(name)
        if other in domains:
            domains[name] = domains[other]
            continue
        together = [column] if other is None else [column, columns[other]]
        roots = {given[x] for x in (name, other) if x in given}
        if len(roots) > 1:
            raise ParameterError(
                f"domain: {name!r} and {other!r} are a pair and share one domain; give one concept for both"
            )
        domains[name] = Domain(taxonomies[name], together, request.measure, next(iter(roots), None))
    return domains


def _variance(domain: Domain, places: NDArray[np.uint32], counts: NDArray[np.uint64], mean: int) -> float:
    squares = domain.space.pairs(places, np.full_like(places, mean)) ** 2
    return float((counts * squares).sum() / counts.sum())
