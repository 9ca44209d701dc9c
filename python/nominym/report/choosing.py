"""Choosing a method: several methods with several values of k on one table, what each risks and loses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import chart, risk
from nominym.aggregate import total_squares
from nominym.control import Progress, check_progress, is_whole
from nominym.error import NO_VALUE, Advice, NominymError, ParameterError
from nominym.meaning import Meaning, Measure, check_meanings
from nominym.method import Method
from nominym.report import choice_page, draw, measured
from nominym.report.methods import AMOUNTS, TITLES, by_name, information_loss, usual
from nominym.report.page import write_page
from nominym.report.suggestion import CRITERIA, Suggestion, suggest
from nominym.study import Outcome, Study
from nominym.study.plan import treatments
from nominym.table import Table, column_names, some_rows

if TYPE_CHECKING:
    from pathlib import Path

    import plotly.graph_objects as go

    from nominym.files import StrPath

KS = (3, 5, 10, 20)
SAMPLE = 20_000
"""Records that are masked of a larger table, unless another number is asked for."""

_NUMBERS = ("k", "p", "alpha", "epsilon", "rate")


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """Methods compared on a table, and which of them is suggested. All figures are for the owner of the data."""

    table: pd.DataFrame
    """A row for each method and option: ``name``; ``method`` and its numbers; the stated ``bound``, if there is one;
    ``risk``, the share that the best attack by masked columns finds, mean over the draws, and its ``smallest`` and
    ``largest``; ``attacked``; ``holds``, whether no attack exceeded the bound by more than chance; ``kept``, the share
    found where kept columns are known too, by the nearest row; ``loss``, ``counts``, ``correlations`` and ``rmse``, the
    size of the smallest ``class`` of equal rows, the ``seconds`` that masking took; and what failed, ``error``."""
    results: pd.DataFrame
    """All figures, one a row, as ``Study.run`` returns them."""
    suggestion: Suggestion
    """The method that is suggested, and why."""
    method: Method | None
    """The same as an object, ready to be applied; None where nothing is suggested."""
    refusal: str
    """Why the method would refuse the table as it is, because of kept columns; empty where it would not."""
    records: int
    """Records that were masked."""
    rows: int
    """Records of the table; more, where a sample was masked."""
    draws: int
    """Number of times that each method was run."""
    masked: tuple[Any, ...]
    kept: tuple[Any, ...]
    max_risk: float
    by: str
    """What was decided by: a key of ``CRITERIA``."""
    unit: str = "records"
    """What shares are shares of: records, or persons."""

    def __repr__(self) -> str:
        """Return the suggestion."""
        return f"<Choice among {len(self.table)}: {self.suggestion.headline}>"

    def figure(self) -> go.Figure:
        """Draw risk against loss: what attacks found and, where there is one, the stated bound."""
        return draw.compared(self.table, self.by, self.max_risk, self.suggestion.name, self.unit)

    def write(self, path: StrPath, *, title: str | None = None, overwrite: bool = False) -> Path:
        """Write a page for the owner: the suggestion and its reason, the figure, the table."""
        return write_page(path, choice_page.page(self, title), overwrite=overwrite)


def compare(
    frame: Any,
    meanings: Mapping[Any, Meaning],
    k: int | Iterable[int] | None = None,
    *,
    methods: Any = None,
    max_risk: float | None = None,
    by: str = "loss",
    seeds: int = 3,
    sample: Any = "auto",
    person: Any = None,
    sensitive: Mapping[Any, int] | None = None,
    accept: Any = (),
    measure: str | Measure = "wu-palmer",
    path: StrPath | None = None,
    workers: int | None = None,
    progress: Progress = None,
) -> Choice:
    """Mask a table by several methods with several values of k, measure risk and loss, and suggest one; owner only.

    Nothing is released: the figures are for choosing, and depend on the data.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(400, seed=1)
    >>> masked = {"diagnosis": taxonomies["diagnosis"], "procedure": taxonomies["procedure"]}
    >>> found = nym.report.compare(frame[["diagnosis", "procedure", "sex"]], masked, k=[3, 5], seeds=1,
    ...                            methods=["strict", "microaggregation", "records"])
    >>> found.suggestion.headline
    'Suggested: microaggregation, k = 5: re-identification probability at most 20 %'
    >>> found.method
    Microaggregate(k=5)

    Parameters
    ----------
    frame
        A table of any library. Columns without a meaning are kept.
    meanings
        Which columns to mask, and what their values mean.
    k
        Values of k for the methods that have one; by default 3, 5, 10 and 20, and the smallest that ``max_risk`` needs.
    methods
        Names: "strict", "microaggregation", "generalization"; as published, "fixed", "dynamic", "records"; "noise",
        with alpha 0.1, 0.3 and 1; "data-swap", with a rate of 0.05 and 0.2. Or method objects, one, several, or a
        mapping from names to them. By default the first three and "records", and "noise" where every masked column has
        a taxonomy or a matrix.
    max_risk
        The largest re-identification probability that you accept, such as 0.09; by default 1/k of the largest k.
    by
        What decides among the methods whose bound suffices: "loss", squared distances that values moved relative to
        those to one mean for all records; "counts", the total variation of single columns, numbers aside; or
        "correlations", the largest change of a distance correlation. All are means over draws and columns.
    seeds
        How often each method is run.
    sample
        "auto": all of up to 20,000 records, and 20,000 drawn ones of more; a number; or None for all. With ``person``,
        all records of drawn persons. In a sample like records are farther apart, so that more is lost than in all.
    person, sensitive, measure
        As of ``rank_swap``, for the methods that have them; shares count persons then.
    accept
        Kept columns that you accept although they could tell rows apart. For the figures, all kept columns are.
    path
        Folder in which every run is stored as it is done, and found again.
    workers, progress
        As of ``Study.run``.

    Returns
    -------
    Choice
        The table, all figures, the suggestion with its reasons; ``figure()`` and ``write(path)``.
    """
    check_progress(progress)
    chart.extra("plotly.graph_objects", "a comparison of methods")
    known = check_meanings(meanings)
    if by not in CRITERIA:
        raise ParameterError(f"give {', '.join(map(repr, CRITERIA))}", parameter="by", value=by)
    if by == "correlations" and len(known) < 2:
        raise ParameterError("correlations need pairs: mask at least two columns", parameter="by", value=by)
    if not (is_whole(seeds) and seeds >= 1):
        raise ParameterError("give a whole number, 1 or more", parameter="seeds", value=seeds)
    if not (sample is None or sample == "auto" or (is_whole(sample) and sample >= 1)):
        what = "give 'auto', a number of records, or None for all of them"
        raise ParameterError(what, parameter="sample", value=sample)
    ks, limit = _wanted(k, max_risk)
    limits: dict[str, Any] = {"person": person, "sensitive": sensitive}
    named = _named(methods, ks, known, measure, limits)
    table = Table(frame)
    column_names(list(known), table.names, "meanings")
    for what, names in (("person", [] if person is None else [person]), ("sensitive", list(sensitive or ()))):
        column_names(names, [name for name in table.names if name not in known], what)
    kept = [name for name in table.names if name not in known and name != person]
    accepted = column_names(accept, kept, "accept") if accept else []
    some = _sampled(table, sample, person)
    measures = {
        "risk": partial(_risk, person=person),
        "loss": _loss,
        "counts": _counts,
        "correlations": _correlations,
        "class": _smallest_class,
        "rmse": "rmse",
    }
    free = {name: [_accepting(each, kept) for each in several] for name, several in named.items()}
    study = Study({"table": some}, free, known, measures, seeds, path=path)
    results = study.run(progress, workers=workers)
    rows = [
        _row(results, name, of_study, _accepting(method, accepted), list(known), kept)
        for (name, several), others in zip(named.items(), free.values(), strict=True)
        for method, of_study in zip(several, others, strict=True)
    ]
    found = pd.DataFrame([figures for figures, _ in rows])
    said = suggest(found, limit, by)
    chosen = next((method for figures, method in rows if figures["name"] == said.name), None)
    if chosen is not None:
        said = replace(said, not_covered=_not_covered(chosen, list(known), kept, limit, len(table), len(Table(some))))
    return Choice(
        found, results, said, chosen,
        refusal=_refusal(chosen, some, known),
        records=len(Table(some)), rows=len(table), draws=int(seeds),
        masked=tuple(known), kept=tuple(kept), max_risk=limit, by=by,
        unit="records" if person is None else "persons",
    )  # fmt: skip


# ---- what is asked for


def _wanted(k: Any, max_risk: Any) -> tuple[list[int], float]:
    """Return the values of k, and the largest risk that is borne."""
    given = [k] if is_whole(k) else k
    if given is not None and (isinstance(given, str) or not isinstance(given, Iterable)):
        raise ParameterError("give whole numbers, 2 or more", parameter="k", value=k)
    ks = sorted(set(KS if given is None else given))
    if not ks or not all(is_whole(each) and each >= 2 for each in ks):
        raise ParameterError("give whole numbers, 2 or more", parameter="k", value=k)
    if max_risk is None:
        return ks, 1 / ks[-1]
    if isinstance(max_risk, bool) or not isinstance(max_risk, int | float) or not 0 < max_risk < 1:
        raise ParameterError("give a probability between 0 and 1, such as 0.09", parameter="max_risk", value=max_risk)
    least = math.ceil(1 / max_risk - 1e-9)
    if given is None:
        return sorted({*ks, max(least, 2)}), max_risk
    if ks[-1] < least:
        raise ParameterError(
            f"1/{ks[-1]} is more than {max_risk:g}", parameter="k", value=k,
            remedy=Advice("give {} or more, or another {}", k=least, max_risk=NO_VALUE),
        )  # fmt: skip
    return ks, max_risk


def _named(
    methods: Any, ks: Sequence[int], meanings: Mapping[Any, Meaning], measure: Any, limits: Mapping[str, Any]
) -> dict[str, list[Method]]:
    """Return the methods by what the table calls them."""
    given = usual(meanings.values()) if methods is None else [methods] if isinstance(methods, str) else methods
    if isinstance(given, Sequence) and all(isinstance(each, str) for each in given):
        unknown = next((name for name in given if name not in TITLES), None)
        if unknown is not None or not given:
            raise ParameterError(f"name some of {', '.join(TITLES)}", parameter="methods", value=unknown or methods)
        return {
            TITLES[name]: [by_name(name, amount, measure, **limits) for amount in AMOUNTS.get(name, ks)]
            for name in dict.fromkeys(given)
        }
    found: dict[str, list[Method]] = {}
    for each in treatments(given):
        if not isinstance(each.method, Method):
            raise ParameterError("give method objects, or names of methods", parameter="methods", value=each.name)
        found.setdefault(each.name, []).append(each.method)
    return found


def _accepting(method: Any, columns: Sequence[Any]) -> Method:
    """Return the method with kept columns that it accepts: figures are wanted of those too that it would refuse."""
    made: Method = replace(method, accept=tuple(columns)) if "accept" in method.options() else method
    return made


def _sampled(table: Table, sample: Any, person: Any) -> Any:
    """Return the table, or some of its records; of persons, all records of some of them."""
    size = SAMPLE if sample == "auto" else sample
    if size is None or len(table) <= size:
        return table.data
    # The draw is fixed, so that what is stored is found again; nothing of it is released.
    order = np.random.default_rng(0).permutation(len(table))
    if person is None:
        return some_rows(table.data, np.sort(order[:size]))
    whose = table.column(*column_names([person], table.names, "person")).codes
    persons, first = np.unique(whose[order], return_index=True)
    drawn = persons[np.argsort(first)]
    counts = np.unique(whose, return_counts=True)[1][np.argsort(first)]
    some = drawn[: max(1, int(np.searchsorted(np.cumsum(counts), size, side="right")))]
    return some_rows(table.data, np.flatnonzero(np.isin(whose, some)))


# ---- what is measured


def _risk(outcome: Outcome, person: Any) -> dict[str, float]:
    """Attack by masked columns, and, by the nearest row, with kept ones known."""
    method, secret = outcome.returned.method, outcome.returned.secret
    k = None if method.bound is None else method.k
    how: dict[str, Any] = {"person": person, "seed": outcome.seed, "progress": outcome.progress}
    compared = outcome.comparison
    found = risk.link(compared, kept=[], groups=secret.groups, k=k, **how)
    figures = {"": found.share, "attacked": found.worst["attacked"]}
    if found.holds is not None:
        figures["holds"] = float(found.holds)
    if compared.kept:
        figures["kept"] = risk.link(compared, attacks="nearest row", **how).share
    return figures


def _loss(outcome: Outcome) -> float:
    """Return squared distances, relative to those to one mean for all records."""
    changes = outcome.comparison.changes.items()
    totals = {name: total_squares(change.before, outcome.progress) for name, change in changes}
    return information_loss(outcome.comparison, totals)


def _counts(outcome: Outcome) -> float:
    """Return the total variation of single columns, mean of those that do not go by size, as numbers and dates do."""
    found = measured.utility(outcome.comparison).set_index("attribute")["total_variation"].dropna()
    meant = {name: change.before.meaning for name, change in outcome.comparison.changes.items()}
    listed = [name for name in found.index if getattr(meant[name], "values", ()) is not None]
    return float(found[listed].mean()) if listed else math.nan


def _correlations(outcome: Outcome) -> float:
    """Return the largest change of a distance correlation."""
    found = measured.correlations(outcome.comparison, outcome.progress)
    return math.nan if found is None else float(found["difference"].abs().max())


def _smallest_class(outcome: Outcome) -> float:
    """Return the size of the smallest class of rows with equal masked values."""
    return risk.classes(outcome.comparison.after, list(outcome.comparison.changes)).smallest


# ---- what is said


def _row(
    results: pd.DataFrame, title: str, of_study: Method, method: Method, masked: Sequence[Any], kept: Sequence[Any]
) -> tuple[dict[str, Any], Method]:
    """Return a row of the table, with the method that it is of."""
    numbers = treatments([of_study])[0].options
    of = results["method"] == title
    for name, value in numbers.items():
        of &= results[name] == value
    part = results[of]
    ran = part[part["error"] == ""]

    def values(name: str) -> pd.Series[float]:
        return ran.loc[ran["measure"] == name, "value"].dropna()

    def mean(name: str) -> float:
        return float(values(name).mean()) if len(values(name)) else math.nan

    found, holds, classes = values("risk"), values("risk[holds]"), values("class")
    stated = method.statement(masked, kept)
    amount = next((name for name in _NUMBERS if name in numbers), None)
    named = title if amount is None else f"{title}, {amount} = {numbers[amount]:g}"
    errors = part.loc[part["error"] != "", "error"]
    figures = {
        "name": named,
        "method": title,
        **{name: numbers.get(name, math.nan) for name in _NUMBERS if name in results},
        "bound": math.nan if stated.bound is None else stated.bound,
        "risk": mean("risk"),
        "smallest": float(found.min()) if len(found) else math.nan,
        "largest": float(found.max()) if len(found) else math.nan,
        "attacked": mean("risk[attacked]"),
        "holds": bool((holds == 1).all()) if len(holds) else None,
        "kept": mean("risk[kept]"),
        **{name: mean(name) for name in (*CRITERIA, "rmse")},
        "class": float(classes.min()) if len(classes) else math.nan,
        "seconds": float(ran["seconds"].mean()) if len(ran) else math.nan,
        "error": str(errors.iloc[0]) if len(errors) else "",
    }
    return figures, method


def _not_covered(
    method: Method, masked: Sequence[Any], kept: Sequence[Any], limit: float, rows: int, records: int
) -> tuple[str, ...]:
    """List what a suggestion says nothing about."""
    stated = method.statement(masked, kept)
    said = [f"Premise of the bound: {stated.premise}"] if stated.bound is not None and stated.premise else []
    said += stated.not_covered
    said.append(
        "Your data: figures cannot show what may be known about people, or which loss matters for your analyses. Look "
        "at the report of the release itself."
    )
    if records < rows:
        said.append(
            f"The whole table: the figures come from {records:,} records drawn from {rows:,}. Bounds hold for any "
            "number of records; the measured shares and losses may differ, and losses tend to be smaller with more "
            "records."
        )
    return tuple(said)


def _refusal(method: Method | None, data: Any, meanings: Mapping[Any, Meaning]) -> str:
    """Return why a method would refuse the table: a suggestion that cannot be followed is useless."""
    if method is None or not method.grouped:
        return ""
    apply: Any = method
    try:
        apply.apply(data, meanings)
    except NominymError as error:
        return str(error)
    return ""
