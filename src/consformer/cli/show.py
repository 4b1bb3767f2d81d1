"""How problems and answers are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from consformer.cli.app import out

if TYPE_CHECKING:
    from consformer.csp import CSP


def show(csp: CSP, assignment: Sequence[int] | None) -> None:
    """Draw a problem, or an assignment of it, on the terminal."""
    from consformer import families

    out.print(families.of(csp).render(csp, assignment), crop=False)


def short_answer(csp: CSP, assignment: Sequence[int]) -> str:
    """An assignment as the text the family writes to files, on one line where it can be."""
    from consformer import families

    return families.of(csp).solutions([csp], [assignment]).rstrip("\n")
