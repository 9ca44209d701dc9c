"""``nominym measure``, ``audit`` and ``report``: compare a release with its original, for the owner."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nominym.atomic import check_new
from nominym.cli import progress, say, say_json, say_table
from nominym.cli.ending import Exit, tell
from nominym.cli.options import Request
from nominym.error import NO_VALUE, Advice, ParameterError, listed
from nominym.meaning import Order
from nominym.release import (
    FilePair,
    SetsPair,
    Verification,
    are_sets,
    compare_files,
    compare_sets,
    manifest_path,
    verify,
)
from nominym.release.verifying import FOR_PERSONS
from nominym.table import Change, Comparison

if TYPE_CHECKING:
    from argparse import Namespace

    import pandas as pd


def read_pair(asked: Request, order_needed: str | None = None, **how: Any) -> FilePair | SetsPair:
    """Read the two files that a command compares; meanings come from the options, else the manifest, else numbers."""
    original, release = asked.required("original"), asked.required("release")
    if are_sets(original, release):
        whose = {"person": how["person"]} if "person" in how else {}
        files = asked.files("key", "column", "record", "item", "missing", "delimiter", "encoding", "comment")
        more: dict[str, Any] = {**files, **whose, "taxonomy": asked.items().get("items")}
        return compare_sets(original, release, **more, progress=progress())
    masked = [name for name, column in asked.columns.items() if column["role"] == "quasi-identifier"]
    meanings = {**dict.fromkeys(masked), **asked.meanings()}
    options = asked.files("key", "keep_order", "delimiter", "encoding", "na", "comment")
    return compare_files(original, release, meanings, **options, **how, order_needed=order_needed, progress=progress())


def _tell_weaker(pair: FilePair | SetsPair) -> None:
    for why in pair.weaker.values() if isinstance(pair, FilePair) else ():
        tell("notice", why)


# ---- measure


def measure(given: Namespace) -> None:
    """Measure the information loss of a release."""
    pair = read_pair(Request(given), columns=given.columns, measure=given.measure)
    _tell_weaker(pair)
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

    from nominym import distortion, risk, stats

    comparison, rows = pair.comparison, []
    for name, change in comparison.changes.items():
        row: dict[str, Any] = {"column": name}
        if pair.aligned:
            row |= {"rmse": change.rmse, "rmse in units of the column": in_units(change)}
        for when, side in (("before", change.before), ("after", change.after)):
            row[f"mean {when}"], row[f"variance {when}"] = side.space.name(side.mean), side.variance
        rows.append(row)
    if rows and not pair.aligned:
        tell("notice", "no RMSE: which row is whose is not known; give --key, or --keep-order")
    correlations = stats.correlation_changes(comparison.changes, progress=progress())
    # Where no column is of numbers, none has a unit.
    attributes = pd.DataFrame(rows).dropna(axis="columns", how="all")
    found: dict[str, Any] = {"attributes": attributes, "correlations": correlations}
    kinds = {name: comparison.before.column(name).kind for name in comparison.shared}
    numbers = {name for name, change in comparison.changes.items() if change.before.meaning == Order()}
    nominal = [name for name, kind in kinds.items() if kind not in ("number", "nested") and name not in numbers]
    if nominal:
        found["distortion"] = distortion.compare(comparison, nominal, progress=progress())
    sides = comparison.before, comparison.after
    if nominal:
        scores = distortion.scores(*sides, nominal, progress=progress())
        found["marginals"] = scores.assign(worst=[" × ".join(map(str, names)) for names in scores["worst"]])
    masked, kept = list(comparison.changes), comparison.kept
    sets = {"masked": masked, "all": [*masked, *kept]} if masked and kept else {"all": comparison.shared}
    matches = [risk.unique_exact_matches(*sides, names, progress=progress()) for names in sets.values()]
    found["unique exact matches"] = pd.DataFrame(
        [{"columns": name, **each.to_dict()} for name, each in zip(sets, matches, strict=True)]
    )
    if masked and kept:
        found["disclosure of kept columns, given masked ones"] = risk.disclosures(
            *sides, masked, kept, progress=progress()
        )
    return found


def in_units(change: Change) -> float:
    """Return the RMSE of numbers in their own unit, of dates and times in days; NaN where values are not numbers."""
    unit = math.nan if change.space.unit is None else change.space.unit
    return change.rmse * unit / (_DAY if change.before.column.kind == "time" else 1)


_DAY = 86_400  # seconds


def _lost_sets(pair: SetsPair) -> dict[str, Any]:
    from nominym import itemsets

    found: dict[str, Any] = {}
    if pair.record is not None:
        found["error rate"] = itemsets.error_rate(pair.sets, pair.release.base, pair.record.rows, progress=progress())
    else:
        tell("notice", "no error rate: which row is whose is not known; give --key")
    if pair.record is not None and pair.release.taxonomy is not None:
        of = pair.sets, pair.release.base, pair.release.taxonomy
        found["semantic error"] = itemsets.semantic_error(*of, pair.record.rows, progress=progress())
    for kind in ("present", "absent"):
        error = itemsets.query_error(pair.sets, pair.release.base, kind, progress=progress())
        found[f"query error, items {kind}"] = error
    return found


# ---- audit


def audit(given: Namespace) -> Exit:
    """Attack a release and verify its guarantee."""
    asked = Request(given)
    pair = read_pair(asked, "an audit", person=given.person, measure=given.measure)
    found = judge(pair, given.k, given.unknown or ())
    if given.json:
        say_json(found)
    else:
        _show(found)
    return Exit.DONE if found["holds"] and not found["doubts"] else Exit.NOT_KEPT


def judge(pair: FilePair | SetsPair, k: int | None = None, unknown: Sequence[str] = ()) -> dict[str, Any]:
    """Attack a release and verify its guarantee; return all figures and one verdict.

    ``unknown`` are kept columns that, as the owner asserts, no adversary can know: attacks that use them do not count.
    """
    method: Any = None if pair.manifest is None else pair.manifest.method
    if k is None:
        k = getattr(method, "least", getattr(method, "k", None))
    if isinstance(pair, SetsPair) and unknown:
        raise ParameterError("item sets have no kept columns; leave it out", parameter="unknown", value=list(unknown))
    found = _attack_sets(pair, k) if isinstance(pair, SetsPair) else _attack(pair, k, unknown)
    checked = verify(pair, progress())
    bound = None if method is None else method.bound
    doubts = {
        "there is no k to compare with: give --k": k is None,
        "the release was made with a seed: anyone who has or guesses it can repeat the draw": pair.seeded,
        "by the owner's record, the release was made from another original": pair.other_input,
        "that the rows of both files are in the same order is only asserted: give --key with the owner's "
        "record": isinstance(pair, FilePair) and pair.order == "asserted",
        f"the release guarantees 1/{round(1 / (bound or 1))} and not 1/{k}": bool(bound and k and 1 / k < bound),
        str(pair.uncounted): pair.uncounted is not None,
        "the rows are in the order of the original, which may reveal whose they are": pair.manifest is not None
        and pair.manifest.order == "kept",
    }
    found["doubts"] = [why for why, so in doubts.items() if so]
    if isinstance(pair, FilePair):
        found["doubts"] += [_stranger(name, under) for name, under in pair.strange.items()]
    found["doubts"] += () if isinstance(pair, SetsPair) else pair.weaker.values()
    if checked.broken:
        found["holds"] = False
    found |= {"verified": checked.verified and not found["doubts"], "checked": list(checked.checks)}
    found["not verified"] = list(dict.fromkeys([*checked.doubts, *found["doubts"]]))
    found["contradictions"], found["caveats"] = list(checked.broken), list(checked.caveats)
    found["verdict"] = _verdict(pair, found, checked)
    if isinstance(pair, FilePair) and not checked.broken:
        _tell_remedy(found)
    return found


def _stranger(name: str, under: str | None) -> str:
    """Return a message that a column was not judged."""
    what = f"column {name!r} of the release is not in the original, so it was neither attacked nor compared"
    return what if under is None else f"{what}: it is column {under!r} under another name"


def _tell_remedy(found: dict[str, Any]) -> None:
    """Print what can be done about kept columns, if they alone exceed the bound."""
    from nominym.risk.attacks import BY_KEPT

    attacks, (informed, linking) = found["attacks"], BY_KEPT
    over = attacks[attacks["counted"] & (attacks["holds"] == False)]  # noqa: E712  # None is neither
    linked = list(dict.fromkeys(name for names in over["also_known"][over["attack"] == linking] for name in names))
    if linked:
        told = listed(linked)
        tell("notice", f"rows that share a value of {told} can be linked: if it identifies persons, make the release "
                       f"with --person; else drop or mask it")  # fmt: skip
    if any(over["attack"] == informed):
        tell("notice", "kept columns can be predicted from masked ones: mask them as well, or drop them")
    known = over[~over["attack"].isin(BY_KEPT)]
    if len(known) and len(known) == len(over) and all(known["also_known"].map(len) > 0):
        names = list(dict.fromkeys(name for names in known["also_known"] for name in names))
        options = " ".join(f"--unknown {shlex.quote(str(name))}" for name in names)
        tell(
            "notice",
            f"exceeded only if kept columns are known: mask them, or, if nobody can know them, give {options}",
        )


def _attack(pair: FilePair, k: int | None, unknown: Sequence[str]) -> dict[str, Any]:
    """Link people with rows: by the masked columns, by these and each kept one, and by all."""
    import pandas as pd

    from nominym import risk
    from nominym.risk.attacks import BY_KEPT

    comparison = _as_released(pair)
    masked, kept = list(comparison.changes), comparison.kept
    if not masked:
        raise ParameterError("name the columns that an adversary knows", remedy=Advice("give {}", meanings=NO_VALUE))
    for name in unknown:
        if name not in kept:
            fault = f"it is not one of the kept columns, {listed(kept)}" if kept else "there are no kept columns"
            raise ParameterError(fault, parameter="unknown", value=name)
    how: dict[str, Any] = {"person": pair.person, "groups": pair.groups, "k": k, "progress": progress()}
    made = risk.link(comparison, **how)
    attacks = made.attacks
    secret = attacks["also_known"].map(lambda names: any(name in unknown for name in names))
    attacks = attacks.assign(counted=~secret | attacks["attack"].isin(BY_KEPT))
    left = [name for name in kept if name not in unknown]
    if unknown and len(left) > 1:
        # All kept columns but those: nobody attacked with just these.
        fewer = risk.link(comparison, kept=left, **how).attacks
        fewer = fewer[fewer["also_known"].map(len) == len(left)]
        attacks = pd.concat([attacks, fewer.assign(counted=True)], ignore_index=True)
    counted = attacks[attacks["counted"]]
    return {
        "k": k,
        "persons": made.persons,
        "unknown": list(unknown),
        "holds": None if k is None else all(counted["holds"]),
        "attacks": attacks,
        "classes before": risk.classes(comparison.before, masked).to_dict(),
        "classes after": risk.classes(comparison.after, masked).to_dict(),
    }


def _as_released(pair: FilePair) -> Comparison:
    """Return the comparison with meanings for masked columns only; kept ones are either known exactly or not at all.

    Without a manifest, only their values show that columns were kept.
    """
    comparison = pair.comparison
    if pair.manifest is not None:
        kept = pair.manifest.roles.get("keep") or []
        for name in kept:
            if name in comparison.changes:
                tell("notice", f"column {name!r}: kept, by the manifest, and attacked as such")
        masked = {name: change for name, change in comparison.changes.items() if name not in kept}
        return Comparison(comparison.before, comparison.after, masked, comparison.unowned)
    for name in comparison.kept if comparison.changes else ():
        before, after, _ = comparison.coded(name)
        changed = int((before != after).sum())
        if changed:
            what = f"it differs in {changed:,} of {len(before):,} records, so it was not kept"
            raise ParameterError(what, column=name, remedy=Advice("give {} for it as well", meanings=NO_VALUE))
    return comparison


def _attack_sets(pair: SetsPair, k: int | None) -> dict[str, Any]:
    """Count the rows that each record could be; a person with several records has several rows."""
    from nominym import risk

    worlds = risk.worlds(pair.release, pair.sets, k=k, progress=progress())
    return {"k": k, "unknown": [], "unit": "records", "holds": worlds.holds, "worlds": worlds.to_dict()}


def _verdict(pair: FilePair | SetsPair, found: dict[str, Any], checked: Verification) -> str:
    """Return the verdict in one sentence."""
    names, verb = ", ".join(found["unknown"]), "is" if len(found["unknown"]) == 1 else "are"
    asserted = f", if {names} {verb} neither known of a person nor predictable, as asserted" if names else ""
    if found["holds"] is False:
        return f"broken{_joined([*checked.broken, *_exceeded(found)])}{asserted}"
    if "attacks" in found:
        most = f"found at most {_most(found)}{asserted}"
    else:
        largest = found["worlds"]["posterior"]["largest"]
        most = f"found at most {largest:.2%} (rows that a record could be; records are counted, not persons)"
    if found["verified"] and pair.manifest is not None:
        claim = pair.manifest.guarantee["claim"].rstrip(".")
        return "; ".join([f"guarantee verified: {claim}", f"the attacks run {most}", *found["caveats"]])
    return f"attacks {most}; not verified{_joined(found['not verified'])}"


def _joined(reasons: list[str]) -> str:
    """Join reasons, those about persons first."""
    told = "; ".join(sorted(reasons, key=lambda why: not why.startswith(FOR_PERSONS)))
    return f" {told}" if told.startswith(FOR_PERSONS) else f": {told}"


# Leaves 0.05 % above: the level at which a bound is said to be exceeded.
_Z = 3.29


def _most(found: dict[str, Any]) -> str:
    """Return what the best attack found, with its confidence interval, and which attacks were run."""
    from nominym.stats import interval

    counted = found["attacks"][found["attacks"]["counted"]]
    names = ", ".join(dict.fromkeys(counted["attack"]))
    best = max(counted.to_dict("records"), key=lambda row: float(row["share"]))
    share, low, high = (float(best[name]) for name in ("share", "low", "high"))
    parts = [] if low == high else [f"95 % interval {low:.1%} to {high:.1%}"]
    if found["k"] is not None and share > 1 / found["k"]:
        low, high = interval(share, share, int(best["attacked"]), z=_Z)
        parts = [f"99.9 % interval {low:.1%} to {high:.1%}, within chance of 1/{found['k']}"]
    return f"{share:.2%}{''.join(f', {part}' for part in parts)} ({names})"


def _exceeded(found: dict[str, Any]) -> list[str]:
    """Return which attacks exceeded the bound, the most successful first."""
    if "worlds" in found:
        worlds = found["worlds"]
        few = f"a record could be only {worlds['smallest']:,} rows, fewer than {found['k']}"
        return [] if worlds["holds"] in (True, None) else [few]
    attacks = found["attacks"]
    over = attacks[attacks["counted"] & (attacks["holds"] == False)]  # noqa: E712  # None is neither
    levels = over["also_known"].map(len).clip(upper=2)
    told = []
    # With no kept column known, with one, with several: the attack that found most.
    for level in range(3):
        rows = over[levels == level].to_dict("records")
        if rows:
            row = max(rows, key=lambda row: float(row["share"]))
            told.append(f"{row['attack']}{_with(row['also_known'])}: {row['why']}, above 1/{found['k']}")
    return told


def _with(names: Sequence[Any]) -> str:
    return f" with {', '.join(map(str, names))}" if len(names) else ""


def _show(found: dict[str, Any]) -> None:
    if "attacks" in found:
        k = found["k"]
        worst = {} if k is None else {f"above 2/{k}": "above_2k", "above 1/2": "above_half"}
        shown = _as_shown(found["attacks"], worst)
        who = "records" if found["persons"] is None else "persons"
        say_table(shown, f"{who} re-identified: what if they also know …")
        for when in ("before", "after"):
            figures = found[f"classes {when}"].items()
            told = ", ".join(f"{name} {value:,}" for name, value in figures if isinstance(value, int))
            say(f"records that share their values {when}: {told}")
    else:
        worlds = found["worlds"]
        attacked = f"{worlds['attacked']:,} {found['unit']} attacked, each by itself"
        say(f"rows that a record could be: {worlds['smallest']:,} or more; {attacked}")
    say(found["verdict"])


def _as_shown(attacks: pd.DataFrame, worst: dict[str, str]) -> pd.DataFrame:
    """Return the table of attacks in readable form."""
    import pandas as pd

    exceeded = {True: "no", False: "yes", None: ""}
    rows = [
        {
            "attack": row["attack"],
            "knows": ", ".join(map(str, row["known"])),
            "also known": ", ".join(map(str, row["also_known"])),
            "found": f"{row['share']:.2%}",
            "interval": "" if row["low"] == row["high"] else f"{row['low']:.1%} to {row['high']:.1%}",
            **{title: "–" if pd.isna(row[name]) else f"{row[name]:.2%}" for title, name in worst.items()},
            **({"exceeded": exceeded[row["holds"]] + ("" if row["counted"] else ", not counted")} if worst else {}),
        }
        for row in attacks.to_dict("records")
    ]
    return pd.DataFrame(rows)


# ---- report


def report(given: Namespace) -> None:
    """Write a page about a release."""
    from nominym.report import write

    asked, overwrite = Request(given), bool(given.overwrite)
    edition: Any = given.edition or "publication"
    owner = edition == "owner"
    release = asked.required("release")
    if owner and given.out is None:
        fault = "this edition must not be kept next to the release; choose a place for it"
        raise ParameterError(fault, parameter="edition", value=edition, remedy=Advice("give {}", out=NO_VALUE))
    target = Path(given.out or f"{release}.report.html")
    sweep = None if given.sweep is None else _values(given.sweep)
    check_new(target, overwrite, [manifest_path(release), *asked.inputs("original", "release", "key")])
    pair = read_pair(asked, "the owner's edition of a report" if owner else None)
    _tell_weaker(pair)
    measured: Any = {"k": given.k, "sweep": sweep, "methods": bool(given.methods)}
    write(target, pair, edition=edition, **measured, overwrite=overwrite, progress=progress())
    say(f"report, edition for {'the owner only' if owner else 'publication'}: {target}")


def _values(text: str) -> dict[str, Any]:
    """Parse a parameter and its values.

    >>> _values("k=2,5"), _values("alpha=0.1,0.5")
    ({'k': [2, 5]}, {'alpha': [0.1, 0.5]})
    """
    name, _, listed = text.partition("=")
    try:
        numbers = [float(value) for value in listed.split(",")]
    except ValueError:
        raise ParameterError("give a parameter and numbers, such as k=2,5,10", parameter="sweep", value=text) from None
    return {name: [int(number) if number.is_integer() else number for number in numbers]}
