"""Feed damaged files to every reader for some seconds: each is read or refused with an error of nominym, nothing else.

Random damage (``tests/damage.py``) to small good files, without guidance by coverage: that needs an instrumented build,
which a stable toolchain does not make of the core. What was found is kept by the tests of each reader.

    python benches/fuzz.py 60
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import nominym as nym  # noqa: E402
from damage import damaged_bytes  # noqa: E402
from nominym.cli import config  # noqa: E402
from nominym.error import NominymError  # noqa: E402
from nominym.release import read_table  # noqa: E402

OBO = '[Term]\nid: X:1\nname: one\nsynonym: "eins" EXACT []\n\n[Term]\nid: X:2\nis_a: X:1 ! one\nalt_id: X:9\n'
TOML = """[input]
path = "a.csv"
na = ["?"]
[columns.x]
role = "quasi-identifier"
taxonomy = "x.csv"
prefix = [1, 2]
[method]
command = "swap"
k = 5
"""
FHIR = {"resourceType": "CodeSystem", "concept": [{"code": "a", "concept": [{"code": "b", "display": "B"}]}]}
CLAML = '<ClaML><Title name="x"/><Class code="a"/><Class code="b"><SuperClass code="a"/></Class></ClaML>'
SKOS = (
    "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n<a> a s:Concept . <b> s:broader <a> ; s:prefLabel 'B'@en .\n"
)
NATIVE = '{"format": "nominym-taxonomy", "version": 1, "concepts": [\n{"id": "*"},\n{"id": "F", "parents": ["*"]}\n]}\n'
LEVELS = "city,county,state\nAlbany,Albany County,New York\nNew York,New York,New York\n"


def targets() -> dict[str, tuple[bytes, str, Callable[[Path], Any]]]:
    """Return a good file, its name and its reader, for each format."""
    declared = [("input.path", str), ("input.na", list)]
    found: dict[str, tuple[str, str, Callable[[Path], Any]]] = {
        "FIMI": ("1 7 3\n\n10000000 3\n", "a.dat", nym.Itemsets.from_fimi),
        "baskets": ('milk,"bread, white"\n\nmilk\n', "a.csv", nym.Itemsets.from_baskets),
        "release of sets": ('"base","distance","threshold"\n"a|b","",0\n', "r.csv", nym.itemsets.read_release),
        "OBO": (OBO, "a.obo", nym.read_taxonomy),
        "CSV": ('a,b\n1,"x, y"\n# c\n2,\n', "a.csv", lambda path: read_table(path, comment="#")),
        "TOML": (TOML, "a.toml", lambda path: config.load(str(path), "swap", declared)),
        "edges": ("id,parent,label\ndog,animal,Dog\nanimal,,Animal\n", "a.csv", nym.read_taxonomy),
        "levels": (LEVELS, "a.csv", lambda path: nym.read_taxonomy(path, "levels")),
        "prefixes": ("code;label\n01.11;a\n0112;b\n", "a.csv", lambda path: nym.read_taxonomy(path, prefix=[2, 3])),
        "ARX": ("a;b;*\nc;b;*\n", "a.csv", nym.read_taxonomy),
        "taxonomy JSON": (NATIVE, "a.json", nym.read_taxonomy),
        "FHIR": (json.dumps(FHIR), "a.json", nym.read_taxonomy),
        "ClaML": (CLAML, "a.xml", nym.read_taxonomy),
        "SKOS": (SKOS, "a.ttl", nym.read_taxonomy),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.parquet")
        nym.Taxonomy.from_edges([("a", "top"), ("b", "top")]).save(path)
        native = path.read_bytes()
    made = {name: (text.encode(), file, read) for name, (text, file, read) in found.items()}
    return {**made, "taxonomy Parquet": (native, "a.parquet", nym.read_taxonomy)}


def main(seconds: float) -> int:
    """Return how many inputs did something else than they should."""
    warnings.simplefilter("ignore")
    random, end, faults = Random(), time.monotonic() + seconds, 0
    counts: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end and faults < 10:
            for name, (data, file, read) in targets().items():
                path = Path(folder, file)
                count = counts.setdefault(name, [0, 0])
                for other in damaged_bytes(data, random, 40):
                    path.write_bytes(other)
                    count[0] += 1
                    try:
                        read(path)
                        count[1] += 1
                    except NominymError:
                        pass
                    except BaseException as error:
                        if isinstance(error, KeyboardInterrupt):
                            raise
                        faults += 1
                        sys.stderr.write(f"{name}: {type(error).__name__} on {other!r}\n")
                        traceback.print_exc(limit=-3)
    for name, (tried, read_in) in counts.items():
        sys.stdout.write(f"{name}: {tried:,} files, {read_in:,} read, the others refused\n")
    sys.stdout.write(f"{faults} faults\n")
    return faults


if __name__ == "__main__":
    raise SystemExit(bool(main(float(sys.argv[1]) if len(sys.argv) > 1 else 60)))
