"""What tests of the command line share: a small table with its taxonomy, and what a command leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

TAXONOMY = """id,parent
illness,
infection,illness
flu,infection
cold,infection
measles,infection
injury,illness
fracture,injury
burn,injury
sprain,injury
"""

DIAGNOSES = ("flu", "cold", "measles", "fracture", "burn", "sprain")
ROLES = ("--identifier", "name", "--quasi", "diagnosis=illness.csv", "--keep", "ward", "--keep", "cost")


def visits(records: int = 60) -> str:
    lines = [f"P{i:03},{DIAGNOSES[min(i % 17, 5)]},{'AB'[i % 2]},{i // 2 % 6:03}" for i in range(records)]
    return "\n".join(["name,diagnosis,ward,cost", *lines]) + "\n"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Run = Callable[..., Done]
