"""Semantic noise as a method: its options, and masking a table in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nominym.control import Progress, check_progress, check_seed
from nominym.error import ParameterError
from nominym.guarantee import Guarantee, listed, local, none
from nominym.meaning import Meaning, Measure, as_measure, shortest
from nominym.method import Method, Result, source_of
from nominym.noise.model import NoiseModel
from nominym.options import Algorithm, Law, NoiseOptions, Pairs, Reference
from nominym.table import Missing


@dataclass(frozen=True, repr=False)
class Noise(NoiseOptions, Method):
    """Semantic noise and its options, which ``add_noise`` explains.

    >>> import nominym as nym
    >>> nym.Noise(alpha=0.3)
    Noise(alpha=0.3)
    >>> nym.Noise(alpha=0.3, method="naive")
    Traceback (most recent call last):
    nominym.error.ParameterError: alpha=0.3: it applies only where method is 'semantic'
    """

    def __post_init__(self) -> None:
        """Check the options and their combination."""
        self.check_accept()
        self.check_options()
        self.check_roots()
        if self.pairs is not None:
            if self.method != "semantic" or self.reference != "pair":
                raise ParameterError("it applies only where reference is 'pair'", parameter="pairs",
                                     value=self.pairs)  # fmt: skip
            if isinstance(self.pairs, str) or not isinstance(self.pairs, Sequence):
                raise ParameterError("give a list of pairs of columns", parameter="pairs", value=self.pairs)
            object.__setattr__(self, "pairs", tuple(tuple(pair) if isinstance(pair, list | tuple) else pair
                                                    for pair in self.pairs))  # fmt: skip
        for name, method in (("alpha", "semantic"), ("epsilon", "exponential")):
            if self.method == method and getattr(self, name) is None:
                fault = f"give a number above 0, the amount of noise, which the method {method!r} needs"
                raise ParameterError(fault, parameter=name, value=None)
        if self.reference == "pair" and not self.correlated:
            raise ParameterError(
                "with a pair as reference, errors are always correlated",
                parameter="correlated",
                value=False,
                remedy="leave it out",
            )
        object.__setattr__(self, "measure", shortest(self.measure))
        info = as_measure(self.measure).info
        if self.by_distance and not info.normalized:
            raise ParameterError(
                f"it ranges over {info.range}; errors are shares of the largest distance, so a measure within [0, 1] "
                "is needed",
                parameter="measure",
                value=as_measure(self.measure).name,
            )

    @property
    def by_distance(self) -> bool:
        """Return whether distances determine how far a value moves; the baselines ignore them."""
        return self.method in ("semantic", "exponential")

    def _statement(self, masked: Sequence[Any], kept: Sequence[Any], roots: Mapping[Any, Any]) -> Guarantee:
        if self.epsilon is None:
            return super()._statement(masked, kept, roots)
        # A matrix has no root: its domain is all of its labels, whatever the data are.
        fixed = {*(self.roots or ()), *(name for name, root in roots.items() if root is None)}
        derived = [name for name in masked if name not in fixed]
        if not derived:
            return local(self.epsilon, masked)
        return none(
            f"Nothing is guaranteed: the domain of {listed(derived)} was derived from the data, so that what can be "
            f"drawn shows something about the values of others. For local differential privacy name it by roots=."
        )

    def params(self) -> dict[str, Any]:
        """Return the options in effect, for the record of a result."""
        return {**super().params(), **as_measure(self.measure).params()}

    def apply(
        self, frame: Any, meanings: Mapping[Any, Meaning], seed: int | None = None, progress: Progress = None
    ) -> Result:
        """Mask the columns that have a meaning; the input frame is not changed."""
        check_progress(progress)
        check_seed(seed)
        table, warned = source_of(frame, strict=False)
        return NoiseModel.fit_table(self, table, meanings, progress).mask(table, warned, seed, progress)


def add_noise(
    frame: Any,
    meanings: Mapping[Any, Meaning],
    alpha: float | None = None,
    *,
    correlated: bool = True,
    reference: Reference = "mean",
    law: Law = "normal",
    method: Algorithm = "semantic",
    epsilon: float | None = None,
    pairs: Pairs | None = None,
    roots: Mapping[Any, object] | None = None,
    measure: str | Measure = "wu-palmer",
    correlations: bool = False,
    moments: bool = True,
    missing: Missing = "keep",
    accept: Any = (),
    seed: int | None = None,
    progress: Progress = None,
) -> Result:
    """Replace values with concepts at a randomly drawn semantic distance.

    Nothing is guaranteed, except for "exponential" where the domain of every column is named. As published, noise
    always changes a value, which an adversary can use: the value shown is excluded, and the rule favours some of the
    others. In a domain of two values, and on a column of two values where one of them is shown, noise is undone with
    certainty, so these are errors; domains of fewer than five values raise a warning.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
    >>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    >>> res = nym.add_noise(frame, masked, alpha=0.3, seed=1)
    >>> figures = res.secret.summary["attributes"]["diagnosis"]
    >>> figures["rmse"] >= figures["target_rmse"]
    True

    Parameters
    ----------
    frame
        A pandas or polars frame, an Arrow table or stream, or a mapping of columns. It is not changed.
    meanings
        The columns to mask and the meaning of their values: a ``Taxonomy`` or a ``DistanceMatrix`` by column name.
    alpha
        Amount of noise: the variance of errors is ``alpha`` times that of the column.
    correlated
        Whether the errors of a record are correlated like its columns (covariance of distances), or independent.
    reference
        What a positive error moves away from, and a negative one towards: "mean" (SNA-1, keeps the semantic mean),
        "pair" (SNA-2, the value of another column in the same record, keeps their correlation; same taxonomy), "root"
        (SNA-3).
    law
        "normal", or "laplace" with the same variance.
    method
        "semantic"; "exponential": each concept with probability proportional to exp(−epsilon·distance/2); or the
        baselines "naive" (any category of the column) and "probabilistic" (a category in proportion to its frequency).
    epsilon
        For "exponential", the budget spent on each value: local differential privacy, if ``roots`` names the domain of
        every taxonomy. See docs/noise.md for what that does and does not guarantee.
    pairs
        For "pair", disjoint pairs of columns; by default those with the highest distance correlation.
    roots
        By column, the concept below which replacements are chosen; by default the least common subsumer of the column,
        which depends on the data.
    measure
        A distance within [0, 1].
    correlations
        Also compare the distance correlations of all pairs of columns before and after masking, for the owner.
    moments
        Compare semantic means and variances, for the owner; O(categories × concepts), which for large domains is most
        of the work.
    accept
        Kept columns that ``publish`` accepts although they are nearly unique or predict a masked column.
    missing, seed, progress
        As in other methods: "keep" leaves missing cells unchanged; a seed is for studies; ``True`` shows a bar.

    Returns
    -------
    Result
        For each column, the owner's ``secret.summary["attributes"]`` has ``target_rmse`` (of the errors drawn) and
        ``rmse``, the share ``truncated`` (no concept was as far away), the share ``undirected`` (no concept lay in the
        direction of the error), ``unchanged``, means and variances before and after; ``covariance_repaired`` is the
        distance of the covariance of distances from a valid one, usually 0.

    Rodríguez-García (2017), Semantic perturbative privacy-preserving methods for nominal data, chapter 6.
    """
    chosen = Noise(
        alpha, correlated, reference, law, method, epsilon, pairs, roots, measure, correlations, moments, missing,
        accept,
    )  # fmt: skip
    return chosen.apply(frame, meanings, seed, progress)
