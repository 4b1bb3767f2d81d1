"""Nurse rostering: the paper's two sets, and one of sixty days."""

from __future__ import annotations

from consformer.bench.base import About, Plot, Rows
from consformer.bench.comparison import Comparison, Line, circumstances, medians_table, share_plot, shown, solved_table
from consformer.bench.tables import Table
from consformer.bench.ways import CPSAT_WAY, HYBRID, LOCAL, NETWORK

SETS = {"nurse-10": "10 days", "nurse-20": "20 days", "nurse-60": "60 days"}
PUBLISHED = {"nurse-10": "100", "nurse-20": "100"}


class NurseBench(Comparison):
    """Everyone solves all of them; what differs is the time."""

    name = "nurse"
    heading = "Nurse rostering"
    place = 30
    command = "consformer bench nurse"
    known = tuple(SETS)
    ways = {way.name: way for way in (HYBRID, NETWORK, LOCAL, CPSAT_WAY)}

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        lines = [
            Line(cls.way(variant).label, variant, about["seconds"], PUBLISHED if variant == "cpsat" else None)
            for variant in shown(rows, cls.ways)
        ]
        lines.append(Line("the paper's network", "", None, PUBLISHED))
        caption = (
            f"{circumstances(about, rows)} The network is `any`. Published: the paper, 1,000 rosters a set (its appendix says 10 days of "
            "both; that the second has longer ones is taken from its text); ours are drawn by the same recipe."
        )
        if not rows:
            return []
        return [solved_table("Rosters", SETS, lines, rows, caption), medians_table("Median seconds", SETS, cls, rows)]

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        found = share_plot("nurse", "Nurse rostering: share solved over time", SETS, cls, rows, about["seconds"])
        return [] if found is None else [found]
