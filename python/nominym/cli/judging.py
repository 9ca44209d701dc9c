"""``nominym measure``, ``audit`` and ``report``: compare a release with its original, for the owner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nominym.cli import Exit, progress, say, say_json, say_table, tell
from nominym.cli.options import Request
from nominym.error import NO_VALUE, Advice, ParameterError
from nominym.files import check_new
from nominym.meaning import Equality
from nominym.release import FilePair, SetsPair, are_sets, compare_files, compare_sets
from nominym.release.pipeline import SEED_NOTE

if TYPE_CHECKING:
    from argparse import Namespace


def read_pair(asked: Request, order_needed: str | None = None, **how: Any) -> FilePair | SetsPair:
    """Read the two files that a command compares; what has no meaning is known as it is written."""
    original, release = asked.required("original", "the original"), asked.required("release", "the release")
    if are_sets(original, release):
        return compare_sets(original, release, **asked.files("key", "column"), progress=progress())
    meanings, options = asked.meanings(Equality()), asked.files("key", "keep_order", "delimiter", "encoding", "na")
    return compare_files(original, release, meanings, **options, **how, order_needed=order_needed, progress=progress())


# ---- measure


def measure(given: Namespace) -> None:
    """Measure what a release lost."""
    pair = read_pair(Request(given), columns=given.columns, measure=given.measure)
    found = _lost_sets(pair) if isinstance(pair, SetsPair) else _lost(pair)
    if given.json:
        say_json(found)
        return
    for title, figures in found.items():
        if isinstance(figures, float):
            say(f"{title}: {figures:.4f}")
        elif len(figures):
            say_table(figures, title)


def _lost(pair: FilePair) -> dict[str, Any]:
    import pandas as pd

    from nominym import distortion, stats

    comparison, rows = pair.comparison, []
    for name, change in comparison.changes.items():
        row: dict[str, Any] = {"column": name, **({"rmse": change.rmse} if pair.aligned else {})}
        for when, side in (("before", change.before), ("after", change.after)):
            row[f"mean {when}"], row[f"variance {when}"] = side.space.name(side.mean), side.variance
        rows.append(row)
    if rows and not pair.aligned:
        tell("notice", "no RMSE: it needs to know which row is whose; give --key, or --keep-order")
    correlations = stats.correlation_changes(comparison.changes, progress=progress())
    found: dict[str, Any] = {"attributes": pd.DataFrame(rows), "correlations": correlations}
    kinds = {name: comparison.before.column(name).kind for name in comparison.shared}
    nominal = [name for name, kind in kinds.items() if kind not in ("number", "nested")]
    if nominal:
        found["distortion"] = distortion.compare(comparison, nominal, progress=progress())
    return found


def _lost_sets(pair: SetsPair) -> dict[str, Any]:
    from nominym import itemsets

    found: dict[str, Any] = {}
    if pair.record is not None:
        found["error rate"] = itemsets.error_rate(pair.sets, pair.release.base, pair.record.rows, progress=progress())
    else:
        tell("notice", "no error rate: it needs to know which row is whose; give --key")
    for kind in ("present", "absent"):
        error = itemsets.query_error(pair.sets, pair.release.base, kind, progress=progress())
        found[f"query error, items {kind}"] = error
    return found


# ---- audit


def audit(given: Namespace) -> Exit:
    """Attack a release; does the guarantee hold?"""
    pair = read_pair(Request(given), "an audit", columns=[], measure=given.measure)
    found = attack(pair, given.k)
    doubts = {
        "there is no k to compare with: give --k": found["holds"] is None,
        f"the release was {SEED_NOTE}": pair.seeded,
        "by the owner's record, the release was made of another original": pair.other_input,
    }
    found["doubts"] = [why for why, so in doubts.items() if so]
    if given.json:
        say_json(found)
    else:
        _show(found)
    return Exit.DONE if found["holds"] and not found["doubts"] else Exit.NOT_KEPT


def attack(pair: FilePair | SetsPair, k: int | None = None) -> dict[str, Any]:
    """Link people with rows, by each masked column and by all; of item sets, count the rows that each could be."""
    from nominym import risk

    method: Any = pair.release.method if isinstance(pair, SetsPair) else pair.method
    if k is None:
        k = getattr(method, "least", getattr(method, "k", None))
    if isinstance(pair, SetsPair):
        worlds = risk.worlds(pair.release, pair.sets, k=k, progress=progress())
        return {"k": k, "holds": worlds.holds, "worlds": worlds.to_dict()}
    masked = list(pair.comparison.changes)
    if not masked:
        raise ParameterError("name the columns that an adversary knows", remedy=Advice("give {}", meanings=NO_VALUE))
    attacks = risk.links(pair.comparison, k=k, progress=progress())
    holds = [found for found in attacks["holds"] if found is not None]
    return {
        "k": k,
        "holds": all(holds) if holds else None,
        "linkage": attacks,
        "classes before": risk.classes(pair.comparison.before, masked).to_dict(),
        "classes after": risk.classes(pair.comparison.after, masked).to_dict(),
    }


def _show(found: dict[str, Any]) -> None:
    if "linkage" in found:
        attacks = found["linkage"]
        shown = attacks.assign(known=[", ".join(map(str, names)) for names in attacks["known"]])
        wanted = [name for name in ("known", "attacked", "share", "bound", "holds") if name in shown]
        say_table(shown[wanted], "people re-identified by the nearest row")
        for when in ("before", "after"):
            figures = found[f"classes {when}"].items()
            told = ", ".join(f"{name} {value:,}" for name, value in figures if isinstance(value, int))
            say(f"records that share their values {when}: {told}")
        most = f"the attacks re-identify at most {float(attacks['share'].max()):.2%} of the people"
    else:
        worlds = found["worlds"]
        say(f"rows that a record could be: {worlds['smallest']:,} or more; {worlds['attacked']:,} attacked")
        most = f"the attack finds a row with a probability of at most {worlds['posterior']['largest']:.2%}"
    held = {None: "", True: f"; not more than 1/{found['k']}", False: f"; MORE THAN 1/{found['k']}"}
    say(f"{most}{held[found['holds']]}")
    for why in found["doubts"]:
        say(f"this shows nothing: {why}")


# ---- report


def report(given: Namespace) -> None:
    """Write a page about a release."""
    from nominym.report import write

    asked, overwrite = Request(given), bool(given.overwrite)
    edition: Any = given.edition or "publication"
    owner = edition == "owner"
    release = asked.required("release", "the release")
    if owner and given.out is None:
        fault = "this edition must not lie beside the release; choose a place for it"
        raise ParameterError(fault, parameter="edition", value=edition, remedy=Advice("give {}", out=NO_VALUE))
    target = Path(given.out or f"{release}.report.html")
    sweep = None if given.sweep is None else _values(given.sweep)
    check_new(target, overwrite)
    pair = read_pair(asked, "the owner's edition of a report" if owner else None)
    write(target, pair, edition=edition, k=given.k, sweep=sweep, overwrite=overwrite, progress=progress())
    say(f"report, edition for {'the owner alone' if owner else 'publication'}: {target}")


def _values(text: str) -> dict[str, Any]:
    """Read a parameter and its values.

    >>> _values("k=2,5"), _values("alpha=0.1,0.5")
    ({'k': [2, 5]}, {'alpha': [0.1, 0.5]})
    """
    name, _, listed = text.partition("=")
    try:
        numbers = [float(value) for value in listed.split(",")]
    except ValueError:
        raise ParameterError("give a parameter and numbers, such as k=2,5,10", parameter="sweep", value=text) from None
    return {name: [int(number) if number.is_integer() else number for number in numbers]}
