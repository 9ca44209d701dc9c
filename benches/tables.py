"""Tables for the pages that studies write."""

from __future__ import annotations


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))
