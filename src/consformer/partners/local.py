"""Local search: a rival of the network that needs no training, and a partner that polishes what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from consformer.compiled.local import state as kernel
from consformer.csp import CSP
from consformer.partners.sliced import SlicedSearch, checked_values
from consformer.partners.statement import initial_state


class LocalSearch(SlicedSearch):
    """Tabu search on one problem.

    Hard problems are repaired as TabuCol does, with weights that grow on what stays violated; where there are soft constraints, annealing
    and one-move tabu search take turns from the best so far. `compiled=False` makes the same moves without compiled code, for tests.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables((4, 4), values=range(4))
    >>> model.add([all_different(x[i]) for i in range(4)], [all_different(x[:, i]) for i in range(4)])
    >>> search = LocalSearch(model.compile(), seed=0)
    >>> search.run(moves=10_000), search.best.violations
    (True, 0)
    """

    code = "local.moves"

    def __init__(self, csp: CSP, seed: int = 0, values: Sequence[int] | None = None, *, compiled: bool = True) -> None:
        super().__init__(csp)
        self._begin, self._move = _moves(csp, compiled)
        self.state = initial_state(csp, seed)
        if values is not None:
            self.state.variable[:-1, kernel.VALUE] = checked_values(csp, values)
        self._begin(self.state, int(values is None))

    @property
    def moves(self) -> int:
        return int(self.state.numbers[kernel.MOVES])

    @property
    def values(self) -> list[int]:
        return self.state.variable[:-1, kernel.VALUE].tolist()  # type: ignore[no-any-return]

    @property
    def best_values(self) -> list[int]:
        return self.state.kept[kernel.BEST].tolist()  # type: ignore[no-any-return]

    @property
    def solved(self) -> bool:
        """Whether nothing could be better: no violation, no cost."""
        return self._key() == (0, 0)

    @property
    def over(self) -> bool:
        return self.solved or not self.state.numbers[kernel.FREE]

    def restart_from(self, values: Sequence[int]) -> None:
        self.state.variable[:-1, kernel.VALUE] = checked_values(self.csp, values)
        self._begin(self.state, 0)

    def _advance(self, moves: int) -> int:
        return self._move(self.state, moves)

    def _key(self) -> tuple[float, float]:
        numbers = self.state.numbers
        return int(numbers[kernel.BEST_VIOLATIONS]), int(numbers[kernel.BEST_COST])


Moves = Callable[[kernel.State, int], int]


def _moves(csp: CSP, compiled: bool) -> tuple[Moves, Moves]:
    """How to begin and to advance. They are imported here, because loading the compiler takes time."""
    if any(constraint.local() is None for constraint in csp.constraints):
        from consformer.partners.general import GeneralMoves

        general = GeneralMoves(csp)
        return general.begin, general.advance
    from consformer.compiled.local import moves

    if compiled:
        return moves.begin, moves.advance
    from consformer.compiled.local.plain import plain

    twins = plain(moves)
    return twins["begin"], twins["advance"]
