"""Show the examples of docstrings as code: they stand in the text, not in a section of their own as numpy has it."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


class Fences(griffe.Extension):
    """Put fences around every example."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change a docstring once it is read."""
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(lambda example: f"```python\n{example[0]}\n```", obj.docstring.value)
