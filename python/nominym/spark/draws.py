"""Random numbers that are functions of a secret key and of a block, whatever the attempt or the order of arrival."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEY = 32


def new_key(seed: int | None) -> bytes:
    """Draw a secret key from the operating system; with a seed, which is for studies, derive it from that."""
    return secrets.token_bytes(_KEY) if seed is None else hashlib.sha256(b"nominym seed %d" % seed).digest()


def numbers(key: bytes, block: int, part: int, count: int) -> NDArray[np.uint64]:
    """Return random numbers of 64 bits, by SHAKE-256 over key, block and part.

    >>> [numbers(b"secret", block, 0, 2).tolist() == numbers(b"secret", 1, 0, 2).tolist() for block in (1, 2)]
    [True, False]
    """
    stream = hashlib.shake_256(b"nominym" + key + np.array([block, part], dtype="<i8").tobytes())
    return np.frombuffer(stream.digest(8 * count), dtype="<u8").astype(np.uint64, copy=False)


def shuffled_within(owner: NDArray[np.integer], drawn: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return places in a random order inside each owner; owners stand together, and come in their order.

    >>> shuffled_within(np.array([0, 0, 7]), np.array([9, 3, 5], dtype=np.uint64)).tolist()
    [1, 0, 2]
    """
    return np.lexsort((drawn, owner))
