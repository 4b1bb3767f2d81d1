"""What kinds need to narrow domains: how they say that nothing is left, and which values of an all-different scope can still be taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

OutOfTime = Callable[[], bool]


@dataclass(frozen=True)
class Dead:
    """A constraint that cannot hold any more. `why` may speak of {values}, which are put in the user's labels, and of {variables}."""

    index: int  # of the constraint in its kind
    why: str
    variables: tuple[int, ...]  # that it is about, not always the whole scope
    values: tuple[int, ...] = ()


def too_few(index: int, variables: Sequence[int], values: Sequence[int]) -> Dead:
    """The pigeonhole principle: fewer values than variables that must differ."""
    if len(values) == 1:
        return Dead(index, f"{{values}} is the only value left for {len(variables)} variables", tuple(variables), tuple(values))
    some = f"the values {{values}} are left for {len(variables)} variables" if values else "no value is left for {variables}"
    return Dead(index, some, tuple(variables), tuple(values))


def match(domains: Sequence[int]) -> tuple[list[int], list[int], int]:
    """Different values for as many variables as possible, domains and sets of values being bit masks.

    Gives the value of each variable and, where one is left without, the variables that share too few values, and those values.

    >>> match([0b11, 0b01])
    ([1, 0], [], 0)
    >>> match([0b11, 0b01, 0b10])
    ([1, 0, -1], [2, 0, 1], 3)
    """
    chosen = [-1] * len(domains)
    owner: dict[int, int] = {}
    taken = 0
    for start in range(len(domains)):
        queue, seen = [start], 0
        came: dict[int, int] = {}  # who would make room by moving to another value, and for whom
        while queue:
            x = queue.pop()
            room = domains[x] & ~taken & ~seen
            if room:
                value = (room & -room).bit_length() - 1
                taken |= 1 << value
                while x != start:  # everybody on the way moves on by one
                    before = chosen[x]
                    chosen[x], owner[value] = value, x
                    x, value = came[x], before
                chosen[start], owner[value] = value, start
                break
            new = domains[x] & ~seen
            seen |= new
            while new:
                value = (new & -new).bit_length() - 1
                new &= new - 1
                came[owner[value]] = x
                queue.append(owner[value])
        else:
            return chosen, [start, *came], seen
    return chosen, [], 0


def supported(domains: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """The values of each variable that stand in some choice of different values for all of them (Régin's filter), as bit masks.

    A variable can leave its value u of a matching for v if whoever has v can move on, and so forth, until someone takes u or a free value.

    >>> [bin(mask) for mask in supported([0b011, 0b011, 0b111], [0, 1, 2])]
    ['0b11', '0b11', '0b100']
    """
    reach = {value: domain | 1 << value for value, domain in zip(chosen, domains, strict=True)}  # by one move, then by any number
    taken = 0
    for value in chosen:
        taken |= 1 << value
    for through in chosen:
        bit, onwards = 1 << through, reach[through]
        for value, reached in reach.items():
            if reached & bit:
                reach[value] = reached | onwards
    free_ends = 0  # the taken values from which a free one is reached
    for value, reached in reach.items():
        if reached & ~taken:
            free_ends |= 1 << value
    result = []
    for domain, value in zip(domains, chosen, strict=True):
        kept, back = domain & (~taken | free_ends) | 1 << value, domain & taken & ~free_ends & ~(1 << value)
        while back:
            other = (back & -back).bit_length() - 1
            back &= back - 1
            kept |= (reach[other] >> value & 1) << other
        result.append(kept)
    return result
