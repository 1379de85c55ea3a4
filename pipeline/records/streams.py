"""Random streams: the only module that creates a numpy Generator."""

import hashlib

import numpy as np


def seed_of(seed: int, model: str, method: str, of: str) -> int:
    """Return the seed of one question, an int that R's `set.seed` accepts too.

    The first four bytes of the SHA-256 of ``"seed|model|method|of"``, big-endian,
    modulo 2**31: adding a model, a method or a group changes no other seed.
    """
    digest = hashlib.sha256(f"{seed}|{model}|{method}|{of}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 2**31


def stream(seed: int, purpose: str, name: str, repeat: int) -> np.random.Generator:
    """Return the Generator of one draw, seeded by its purpose, name and repeat.

    `purpose` is the kind of draw ("permute", "rows", "y"), `name` the feature or group,
    and `repeat` the number of the repeat. Two draws that differ in any of these are
    independent, whatever else is drawn and in whatever order.
    """
    digest = hashlib.sha256(f"{purpose}|{name}".encode()).digest()
    words = np.frombuffer(digest, dtype=">u4")
    return np.random.default_rng(np.array([seed, repeat, *words], dtype=np.uint32))
