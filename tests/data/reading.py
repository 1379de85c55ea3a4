"""Tables written beside an audit, and read as its configuration says."""

import csv
import io
import sqlite3
from contextlib import closing

import pytest

from importance_audit.config.load import parse_config
from importance_audit.data.datasets import read_datasets
from importance_audit.records.errors import AuditError

SECTIONS = ("groups", "seed", "derived", "models", "importance")


def configured(folder, train, test=None, /, **keys):
    """Return a configuration of a source, or of the text of a CSV file, by side.

    Without test rows the training rows are both. Keys are of the data, but those that
    name another section.
    """
    sides = {"train": train, "test": test}
    for side, table in sides.items():
        if table is None:
            sides[side] = sides["train"]
        elif isinstance(table, str):
            (folder / f"{side}.csv").write_text(table, encoding="utf-8", newline="")
            sides[side] = {"file": f"{side}.csv"}
    sections = {name: keys.pop(name) for name in SECTIONS if name in keys}
    data = {"target": "y", "task": "regression"} | sides | keys
    return parse_config({"data": data, **sections}, base=folder)


def read(folder, *tables, r_frame=None, **keys):
    """Return the training and the test rows of such a configuration."""
    arguments = configured(folder, *tables, **keys).data_arguments
    return read_datasets(**arguments, r_frame=r_frame)


def refusal(folder, *tables, **keys):
    """Return the first sentence with which such tables are refused."""
    with pytest.raises(AuditError) as error:
        read(folder, *tables, **keys)
    return str(error.value).splitlines()[0]


def csv_of(*rows):
    """Return the text of a CSV file."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def sqlite_of(path, columns, rows):
    """Write a database of one table."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"create table rows ({columns})")
        marks = ", ".join("?" * len(columns.split(",")))
        connection.executemany(f"insert into rows values ({marks})", rows)
        connection.commit()


def workbook(path, **sheets):
    """Write a workbook of sheets of rows."""
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
