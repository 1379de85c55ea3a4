"""Models saved beside an audit."""

import hashlib

import joblib


def trusted(path):
    """Return the section of a model that trusts a file beside the audit."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"name": "m", "file": path.name, "sha256": digest}


def saved(folder, thing, name="m.joblib"):
    """Save a model beside an audit; return the section that trusts it."""
    joblib.dump(thing, folder / name)
    return trusted(folder / name)
