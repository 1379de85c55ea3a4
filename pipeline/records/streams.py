"""Where randomness comes from: the only place that makes a numpy Generator."""

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
    """Return the Generator of one draw, named by what it is for.

    `purpose` says what is drawn ("permute", "rows", "y"), `name` of which feature
    or group, `repeat` in which round. Two draws that differ in any of these are
    independent, whatever else is asked and in whatever order.
    """
    digest = hashlib.sha256(f"{purpose}|{name}".encode()).digest()
    words = np.frombuffer(digest, dtype=">u4")
    return np.random.default_rng(np.array([seed, repeat, *words], dtype=np.uint32))
