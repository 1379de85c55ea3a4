"""Word and Excel files, which are zips, without the time of writing in their bytes."""

import io
import zipfile
from collections.abc import Callable, Mapping

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a zip can hold."""


def undated(data: bytes, changes: Mapping[str, Callable[[bytes], bytes]]) -> bytes:
    """Return a zip with the same date for all its parts, in their order.

    Parameters
    ----------
    data : bytes
    changes : mapping of str to callable
        By path, the function that removes the dates inside the content of a part.
    """
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.infolist():
            entry = zipfile.ZipInfo(part.filename, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o600 << 16
            content = old.read(part.filename)
            change = changes.get(part.filename)
            new.writestr(entry, change(content) if change else content)
    return file.getvalue()
