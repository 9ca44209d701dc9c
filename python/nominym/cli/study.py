"""``nominym study``: methods compared on data sets, as a TOML file says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nominym.atomic import write_atomic
from nominym.cli import counted, progress, say
from nominym.cli.config import LAYOUT, SETS_OF, WORDS, load_study
from nominym.cli.ending import tell
from nominym.error import ParameterError
from nominym.files import as_path
from nominym.meaning import Equality, Meaning, Order, Sets
from nominym.meaning.read import OF_TABLES
from nominym.release import METHODS, MeaningFile, read_table
from nominym.release.meanings import read_meanings
from nominym.release.sets import Layout, read_sets
from nominym.study import Study, grid
from nominym.study.plan import treatments

if TYPE_CHECKING:
    from argparse import Namespace

    from nominym.method import Method


def study(given: Namespace) -> None:
    """Run the study, write all figures, and show the means."""
    asked = load_study(given.study)
    methods = _methods(given.study, asked["methods"])
    out = as_path(given.out)
    if (out / "results.csv").exists() and not (out / "cells").is_dir():
        raise ParameterError(f"{out / 'results.csv'} exists and does not come from a study; choose another folder")
    read = {name: _data(each) for name, each in asked["data"].items()}
    planned = Study(
        {name: data for name, (data, _) in read.items()},
        methods,
        {name: meanings for name, (_, meanings) in read.items()},
        asked["measures"],
        asked["seeds"],
        path=out / "cells",
    )
    found = planned.run(progress(), workers=given.workers)
    for name, write in (("results.csv", found.to_csv), ("results.parquet", found.to_parquet)):
        with write_atomic(out / name) as file:
            write(file, index=False)
    main = found[~found["measure"].str.contains("[", regex=False)]
    told = [name for name in found.columns[: list(found.columns).index("seed")] if name != "data" or len(read) > 1]
    say(planned.table(told, "measure", list(dict.fromkeys(main["measure"]))))
    failed = found.loc[found["error"] != "", ["data", "method", "error"]].drop_duplicates()
    for data, method, error in failed.itertuples(index=False):
        tell("warning", f"{method} on {data}: {error}")
    say(f"{out / 'results.csv'}: {counted(len(found), 'figure')} of {counted(len(planned), 'cell')}, also as .parquet")


def _methods(path: str, sections: list[dict[str, Any]]) -> dict[str, list[Method]]:
    """Make the methods; a list of values stands for a method with each of them."""
    found: dict[str, list[Method]] = {}
    for place, section in enumerate(sections, 1):
        options = dict(section)
        command, name = options.pop("command", None), options.pop("name", None)
        if command not in METHODS:
            what = f"command = {command!r}; give {', '.join(METHODS)}"
            raise ParameterError(f"{path}, [[methods]] {place}: {what}")
        known = METHODS[command].options()
        whole = {key: [value] for key, value in options.items() if key not in known or known[key].kind is list}
        made = [METHODS[command].from_options(each) for each in grid(dict, **{**options, **whole})]
        for method in made:
            found.setdefault(str(name or treatments([method])[0].name), []).append(method)
    return found


def _data(said: Mapping[str, Any]) -> tuple[Any, dict[str, Meaning] | None]:
    """Read a data set, and what its columns mean; columns of which nothing is said are left out."""
    if "items" in said:
        how = Layout(**{key: said[key] for key in LAYOUT if key in said})
        return read_sets(said["items"], how, progress())[0], None
    meanings = {name: _meaning(name, column) for name, column in said["columns"].items()}
    options = {key: said[key] for key in ("delimiter", "encoding", "na", "comment") if key in said}
    return read_table(said["path"], [*meanings, *said.get("keep", ())], **options, progress=progress()), meanings


def _meaning(name: str, said: Mapping[str, Any]) -> Meaning:
    if "order" in said:
        return Order(said["order"])
    text = said.get("meaning", said.get("taxonomy"))
    if text is None:
        raise ParameterError(f'columns.{name}: give the meaning of its values, taxonomy = "file" or meaning = "number"')
    if text in WORDS:
        return {"number": Order(), "equal": Equality(), "sets": Sets()}[text]
    file = text.removeprefix(SETS_OF)
    options = {key: said[key] for key in OF_TABLES if key in said}
    how = {"format": said.get("format"), "virtual_root": bool(said.get("virtual_root")), "sets": file != text}
    return read_meanings({name: MeaningFile(file, options=options, **how)}, progress())[name]
