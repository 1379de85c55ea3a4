"""The faults of R packages that an audit kept clear of, as a table."""

from ...engines.avoided_defects import avoided
from ..text.blocks import Cell, Column, Row, Table
from ..text.wording import say
from .facts import Facts

OF_R = " (R)"
"""How the versions of a run mark a package of R."""


def avoided_table(facts: Facts) -> tuple[Table, ...]:
    """Return one row per fault of the engines that took part, no table if none did."""
    result = facts.result
    asked = [(record.engine, record.method) for record in result.importances]
    asked += [(record.engine, record.method) for record in result.effects]
    versions = {
        name.removesuffix(OF_R): version
        for name, version in result.run.versions.items()
        if name.endswith(OF_R)
    }
    methods = {method for engine, method in asked if engine != "python"}
    faults = avoided({engine for engine, _ in asked}, methods, versions)
    if not faults:
        return ()
    table = Table(
        id="tab-avoided",
        caption=say("provenance.avoided_caption"),
        columns=(
            Column(say("provenance.fault"), "header", 20),
            Column(say("provenance.package"), width=18),
            Column(say("provenance.what_is_done"), width=62),
        ),
        rows=tuple(
            Row(
                (
                    Cell((fault.id,)),
                    Cell((f"{fault.package} {versions[fault.package]}",)),
                    Cell((fault.text,)),
                )
            )
            for fault in faults
        ),
    )
    return (table,)
