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
    """Semantic noise with its options; ``add_noise`` explains them.

    >>> import nominym as nym
    >>> nym.Noise(alpha=0.3)
    Noise(alpha=0.3)
    >>> nym.Noise(alpha=0.3, method="naive")
    Traceback (most recent call last):
    nominym.error.ParameterError: alpha=0.3: it plays a part only where method is 'semantic'
    """

    def __post_init__(self) -> None:
        """Refuse what has no meaning, or two meanings."""
        self.check_accept()
        self.check_options()
        self.check_roots()
        if self.pairs is not None:
            if self.method != "semantic" or self.reference != "pair":
                raise ParameterError("it plays a part only where reference is 'pair'", parameter="pairs",
                                     value=self.pairs)  # fmt: skip
            if isinstance(self.pairs, str) or not isinstance(self.pairs, Sequence):
                raise ParameterError("give a list of pairs of columns", parameter="pairs", value=self.pairs)
            object.__setattr__(self, "pairs", tuple(tuple(pair) if isinstance(pair, list | tuple) else pair
                                                    for pair in self.pairs))  # fmt: skip
        for name, method in (("alpha", "semantic"), ("epsilon", "exponential")):
            if self.method == method and getattr(self, name) is None:
                raise ParameterError(f"give a number above 0: method={method!r} needs the amount of noise",
                                     parameter=name, value=None)  # fmt: skip
        if self.reference == "pair" and not self.correlated:
            raise ParameterError(
                "reference='pair' is correlated by nature", parameter="correlated", value=False, remedy="leave it out"
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
        """Whether distances say how far a value moves; the baselines do not look at them."""
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
            "drawn shows something about the values of others. For local differential privacy name it by roots=."
        )

    def params(self) -> dict[str, Any]:
        """List the options that play a part, for the record of a result."""
        return {**super().params(), **as_measure(self.measure).params()}

    def apply(
        self, frame: Any, meanings: Mapping[Any, Meaning], seed: int | None = None, progress: Progress = None
    ) -> Result:
        """Mask the columns that have a meaning; the frame is not changed."""
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
    """Replace values by concepts at a randomly drawn semantic distance.

    Nothing is guaranteed, except for "exponential" where the domain of every column is named. As published, noise never
    leaves a value as it was, which an adversary can use: the value shown is excluded, and the rule favours some of the
    others. In a domain of two values, and on a column of two values where one of them is shown, it is undone with
    certainty, so that these are refused; domains of fewer than five values warn.

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
        Which columns to mask, and what their values mean: a ``Taxonomy`` or a ``DistanceMatrix`` by column name.
    alpha
        How much noise: the variance of errors is ``alpha`` times that of the column.
    correlated
        Errors of a record go together as its columns do (covariance of distances), or are independent.
    reference
        What a positive error moves away from, and a negative one towards: "mean" (SNA-1, keeps the semantic mean),
        "pair" (SNA-2, the value of another column in the same record, keeps their correlation; same taxonomy), "root"
        (SNA-3).
    law
        "normal", or "laplace" with the same variance.
    method
        "semantic"; "exponential": each concept with a chance in proportion to exp(−epsilon·distance/2); or the
        baselines "naive" (any category of the column) and "probabilistic" (as frequent as it is).
    epsilon
        For "exponential", what is spent on each value: local differential privacy, if ``roots`` names the domain of
        every taxonomy. See docs/noise.md for what that does and does not guarantee.
    pairs
        For "pair", disjoint pairs of columns; by default those with the highest distance correlation.
    roots
        By column, the concept below which replacements are looked for; by default the least common subsumer of the
        column, which depends on the data.
    measure
        A distance within [0, 1].
    correlations
        Also compare the distance correlations of all pairs of columns before and after, for the owner.
    moments
        Compare semantic means and variances, for the owner; O(categories × concepts), which for large domains is most
        of the work.
    accept
        Kept columns that ``publish`` takes although they are nearly unique or tell a masked column.
    missing, seed, progress
        As everywhere: "keep" leaves missing cells as they are; a seed is for studies; ``True`` shows a bar.

    Returns
    -------
    Result
        For each column, ``secret.summary["attributes"]``, the owner's, has ``target_rmse`` (of the errors drawn) and
        ``rmse``, the share ``truncated`` (nothing was as far away), the share ``undirected`` (nothing lay in the
        direction of the error), ``unchanged``, means and variances before and after; ``covariance_repaired`` is how far
        the covariance of distances was from one that errors can have, 0 as a rule.

    Rodríguez-García (2017), Semantic perturbative privacy-preserving methods for nominal data, chapter 6.
    """
    chosen = Noise(
        alpha, correlated, reference, law, method, epsilon, pairs, roots, measure, correlations, moments, missing,
        accept,
    )  # fmt: skip
    return chosen.apply(frame, meanings, seed, progress)
