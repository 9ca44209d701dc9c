"""The files of a release, made together: key, manifest and data are drafts until all of them are complete.

They get their names in this order, the data last. So a release is never there without its manifest; if the process ends
in between, the manifest names a file that is not there, or another one than is there (``Manifest.check``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nominym.atomic import Draft, StrPath, check_new
from nominym.error import ParameterError
from nominym.release import key as keys
from nominym.release.manifest import Manifest, fingerprint, manifest_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def check_targets(path: StrPath, inputs: Sequence[StrPath], key: StrPath | None, overwrite: bool) -> None:
    """Refuse, before any work, targets that are inputs, that are there already, or where nothing can be written."""
    targets = [Path(path), manifest_path(path), *([] if key is None else [Path(key)])]
    if len({target.absolute() for target in targets}) < len(targets):
        raise ParameterError(f"key={os.fspath(key or '')!r}: the key needs a file of its own")
    for target in targets:
        for given in inputs:
            if not _same(target, given):
                continue
            if target != Path(path):
                raise ParameterError(f"{target} is an input; choose another name")
            if not overwrite:
                raise ParameterError(
                    f"{target} is the input; choose another name, or give overwrite=True to lose the original"
                )
        check_new(target, overwrite)
        Draft(target).discard()


def _same(target: Path, given: StrPath) -> bool:
    try:
        return target.samefile(given)
    except OSError:
        return False


def publish(
    path: StrPath,
    write: Callable[[Path], object],
    manifest: Manifest,
    *,
    output: dict[str, Any] | None = None,
    rows: NDArray[np.uint32] | None = None,
    key: StrPath | None = None,
    overwrite: bool = False,
) -> Manifest:
    """Write a release by ``write``, which is given the path of a draft, with its manifest and, if asked for, its key.

    ``output`` says more about the release in the manifest, beside its fingerprint.
    """
    targets = [Path(path), manifest_path(path), *([] if key is None else [Path(key)])]
    for target in targets:
        check_new(target, overwrite)
    with ExitStack() as stack:
        data = _draft(stack, targets[0])
        write(data.path)
        data.finish()
        made = {**fingerprint(data.path), "name": targets[0].name}
        said = replace(manifest, output={**made, **(output or {})})
        beside = _draft(stack, targets[1])
        beside.path.write_text(said.to_json(), encoding="utf-8")
        drafts = [beside, data]
        if key is not None:
            assert rows is not None
            owners = _draft(stack, targets[2], keys.MODE)
            keys.write_key(rows, owners.path, made)
            drafts.insert(0, owners)
        for draft in drafts:
            draft.finish()
        for draft in drafts:
            draft.publish()
    return said


def _draft(stack: ExitStack, target: Path, mode: int = 0o666) -> Draft:
    draft = Draft(target, mode)
    stack.callback(draft.discard)
    return draft
