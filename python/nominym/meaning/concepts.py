"""What a taxonomy file says, before anything of it is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Concepts:
    """Concepts and is-a links as a reader found them: the way from any format to a ``Taxonomy``.

    Duplicate ids, unknown parents, cycles and several roots are allowed here; they are found, with one
    wording for all formats, when the taxonomy is built.
    """

    ids: Sequence[str]
    """One id for each concept, in file order."""
    child: Sequence[str]
    """The lower end of each is-a link."""
    parent: Sequence[str]
    """The upper end of each is-a link, in step with ``child``. The order of one child's parents is kept."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Preferred label by id; concepts without one are left out."""
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Further names by id."""
    source: str = "edges"
    """Where this comes from (usually the path), for messages."""
