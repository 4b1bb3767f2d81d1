"""Sudoku boards as arrays: filled grids, their symmetries, a solver that counts, and boards with one solution.

A board is an integer array [N,N], N = box², with values 0..N-1 and -1 for a blank cell.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from consformer.errors import ModelError
from consformer.families.base import python_random

Grid = NDArray[np.int64]

_PATIENCE = 200  # grids to try for a board with few givens and one solution
SHARED = 4  # filled grids of a batch that may come from one search, told apart by random symmetries


@lru_cache(maxsize=8)
def units(box: int) -> list[tuple[int, int, int]]:
    """Row, column and box of every cell, as indices into one list of 3N units."""
    size = box * box
    return [(row, size + column, 2 * size + row // box * box + column // box) for row in range(size) for column in range(size)]


class _Search:
    """Backtracking on bit masks of the values still free in each row, column and box.

    With `draw` it fills grids at random. Without, it looks for values with one place left in a unit too: a hundred times fewer
    nodes on hard boards, but a waste of time on nearly empty ones.
    """

    def __init__(self, box: int, cells: Sequence[int], draw: random.Random | None = None, nodes: int | None = None) -> None:
        self.units, self.cells, self.draw, self.nodes = units(box), list(cells), draw, nodes
        self.free = [(1 << box * box) - 1] * (3 * box * box)
        self.blank = []
        self.consistent = True
        for cell, value in enumerate(self.cells):
            if value < 0:
                self.blank.append(cell)
            else:
                self.consistent &= self.allows(cell, value)
                self.place(cell, value)

    def allows(self, cell: int, value: int) -> bool:
        row, column, block = self.units[cell]
        return bool(self.free[row] & self.free[column] & self.free[block] & 1 << value)

    def place(self, cell: int, value: int) -> None:
        bit, free = 1 << value, self.free
        row, column, block = self.units[cell]
        free[row] &= ~bit
        free[column] &= ~bit
        free[block] &= ~bit
        self.cells[cell] = value

    def count(self, limit: int) -> int:
        """Number of solutions, at most `limit`; `cells` holds one afterwards if there is any. -1 when out of nodes."""
        return self._count(limit) if self.consistent else 0

    def _count(self, limit: int) -> int:
        blank, free, table = self.blank, self.free, self.units
        if not blank:
            return 1
        if self.nodes is not None:
            if self.nodes == 0:
                return -1
            self.nodes -= 1
        fewest, chosen, candidates = 99, 0, 0
        for index, cell in enumerate(blank):
            row, column, block = table[cell]
            mask = free[row] & free[column] & free[block]
            size = mask.bit_count()
            if size < fewest:
                fewest, chosen, candidates = size, index, mask
                if size < 2:
                    break
        if fewest > 1 and self.draw is None:
            chosen, candidates = self._only_place(chosen, candidates)
        if not candidates:
            return 0
        cell = blank[chosen]
        blank[chosen] = blank[-1]
        blank.pop()
        row, column, block = table[cell]
        bits = []
        while candidates:
            bit = candidates & -candidates
            bits.append(bit)
            candidates ^= bit
        if self.draw is not None and len(bits) > 1:
            self.draw.shuffle(bits)
        found = 0
        for bit in bits:
            free[row] ^= bit
            free[column] ^= bit
            free[block] ^= bit
            more = self._count(limit - found)
            free[row] ^= bit
            free[column] ^= bit
            free[block] ^= bit
            if more < 0:
                found = -1
                break
            if more:
                self.cells[cell] = bit.bit_length() - 1
                found += more
                if found >= limit:
                    break
        blank.append(cell)
        blank[chosen], blank[-1] = blank[-1], blank[chosen]
        return found

    def _only_place(self, chosen: int, candidates: int) -> tuple[int, int]:
        """A cell that is the last place for some value in a unit, with that value; else what it was given. No candidates: a dead end."""
        free, table = self.free, self.units
        once, twice = [0] * len(free), [0] * len(free)
        masks = []
        for cell in self.blank:
            row, column, block = table[cell]
            mask = free[row] & free[column] & free[block]
            masks.append(mask)
            for unit in (row, column, block):
                twice[unit] |= once[unit] & mask
                once[unit] |= mask
        if once != free:  # a value without any place
            return chosen, 0
        single = [seen & ~again for seen, again in zip(once, twice, strict=True)]
        if any(single):
            for index, cell in enumerate(self.blank):
                row, column, block = table[cell]
                hidden = masks[index] & (single[row] | single[column] | single[block])
                if hidden:
                    return index, hidden & -hidden
        return chosen, candidates


def searched_grid(box: int, draw: random.Random) -> Grid:
    """A filled grid by randomised backtracking on a cell with the fewest candidates; meant for box sizes 2 and 3.

    >>> searched_grid(2, random.Random(0)).shape
    (4, 4)
    """
    size = box * box
    cells = [-1] * (size * size)
    for corner in range(0, size if box > 2 else 1, box):  # boxes on the diagonal do not see each other (but on 4×4 may not go together)
        for index, value in enumerate(draw.sample(range(size), size)):
            cells[(corner + index // box) * size + corner + index % box] = value
    search = _Search(box, cells, draw)
    search.count(1)
    return np.array(search.cells, dtype=np.int64).reshape(size, size)


def mixed_grid(box: int, draw: random.Random) -> Grid:
    """A filled grid for large boxes, where a search would take too long: the cyclic pattern, stirred by Kempe chains.

    A chain is a connected set of cells holding one of two values; swapping the two within it keeps the grid valid.
    """
    size = box * box
    values = [(row % box * box + row // box + column) % size for row in range(size) for column in range(size)]
    holders = [[cell for cell in range(size * size) if values[cell] == value] for value in range(size)]
    table = units(box)
    for _ in range(4 * size):
        one, two = draw.sample(range(size), 2)
        at: list[list[int]] = [[] for _ in range(3 * size)]  # the (two) cells of each unit with one of the two values
        for cell in holders[one] + holders[two]:
            for unit in table[cell]:
                at[unit].append(cell)
        chain, stack = set(), [draw.choice(holders[one])]
        while stack:
            cell = stack.pop()
            if cell not in chain:
                chain.add(cell)
                stack += [other for unit in table[cell] for other in at[unit]]
        if len(chain) < 2 * size:  # else it only relabels
            kept_one, kept_two = holders[one], holders[two]
            holders[one] = [cell for cell in kept_one if cell not in chain] + [cell for cell in kept_two if cell in chain]
            holders[two] = [cell for cell in kept_two if cell not in chain] + [cell for cell in kept_one if cell in chain]
    grid = np.zeros(size * size, dtype=np.int64)
    for value, cells in enumerate(holders):
        grid[cells] = value
    return grid.reshape(size, size)


def _fresh(box: int, draw: random.Random) -> Grid:
    return searched_grid(box, draw) if box <= 3 else mixed_grid(box, draw)


def shuffled(grids: Grid, rng: np.random.Generator) -> Grid:
    """Filled grids [B,N,N] under random symmetries: values, bands, rows in them, stacks, columns in them, transposition.

    >>> shuffled(searched_grid(2, random.Random(0))[None], np.random.default_rng(0)).sum(axis=1).tolist()
    [[6, 6, 6, 6]]
    """
    count, size = len(grids), len(grids[0])
    box: int = round(size**0.5)

    def order() -> NDArray[np.int64]:
        """[B,N] orders of lines that keep bands together."""
        bands = rng.permuted(np.tile(np.arange(box), (count, 1)), axis=1)
        lines = rng.permuted(np.tile(np.arange(box), (count, box, 1)), axis=2)
        together: NDArray[np.int64] = bands[:, :, None] * box + lines
        return together.reshape(count, size)

    names = rng.permuted(np.tile(np.arange(size), (count, 1)), axis=1)
    rows, columns = order(), order()
    batch = np.arange(count)[:, None, None]
    mixed = names[batch, grids[batch, rows[:, :, None], columns[:, None, :]]]
    return np.where(rng.random(count)[:, None, None] < 0.5, mixed, mixed.transpose(0, 2, 1))


def filled_grids(box: int, count: int, rng: np.random.Generator) -> Grid:
    """`count` filled grids [count,N,N]; up to `SHARED` of them are symmetric images of one fresh grid (it has 3.4 million × 9!).

    >>> filled_grids(3, 10, np.random.default_rng(0)).shape
    (10, 9, 9)
    """
    draw = python_random(rng)
    fresh = np.stack([_fresh(box, draw) for _ in range(-(-count // SHARED))])
    return shuffled(fresh[np.arange(count) % len(fresh)], rng)


def masked(grids: Grid, counts: NDArray[np.int64], rng: np.random.Generator) -> Grid:
    """Boards with `counts` [B] random cells of filled grids [B,N,N] left, the others blank."""
    cells = grids.reshape(len(grids), -1)
    rank = np.argsort(rng.random(cells.shape), axis=1)
    kept = np.zeros(cells.shape, dtype=bool)
    np.put_along_axis(kept, rank, np.arange(cells.shape[1]) < counts[:, None], axis=1)
    return np.where(kept, cells, -1).reshape(grids.shape)


def count_solutions(board: Grid, limit: int = 2) -> int:
    """How many ways there are to fill a board, counted up to `limit`.

    >>> count_solutions(np.full((4, 4), -1), limit=5)
    5
    """
    return _Search(round(len(board) ** 0.5), board.reshape(-1).tolist()).count(limit)


def unique_board(grid: Grid, givens: int, draw: random.Random) -> Grid | None:
    """A filled grid with blanks that has no other solution; None when no further cell could be blanked before `givens` were left.

    Blanks many cells at once as long as that works, then fewer, then one by one. A board that the solver cannot decide
    within some hundred wrong turns counts as one with several solutions.
    """
    box, cells = round(len(grid) ** 0.5), grid.reshape(-1).tolist()
    open_ = draw.sample(range(len(cells)), len(cells))  # cells not tried yet
    surplus = len(cells) - givens
    step = surplus // 2 or 1
    while surplus:
        step = min(step, surplus, len(open_))
        if not step:
            return None
        trial = list(cells)
        for cell in open_[:step]:
            trial[cell] = -1
        if _Search(box, trial, nodes=2 * len(cells) + 500).count(2) == 1:
            cells, open_, surplus = trial, open_[step:], surplus - step
        elif step == 1:
            open_ = open_[1:]  # needed now, and even more so with fewer givens
        else:
            step //= 2
    return np.array(cells, dtype=np.int64).reshape(grid.shape)


def unique_boards(box: int, counts: NDArray[np.int64], rng: np.random.Generator) -> Grid:
    """Boards [B,N,N] with exactly one solution and `counts` [B] givens, each from a fresh grid."""
    draw = python_random(rng)
    found = []
    for givens in counts.tolist():
        for _ in range(_PATIENCE):
            board = unique_board(shuffled(_fresh(box, draw)[None], rng)[0], givens, draw)
            if board is not None:
                found.append(board)
                break
        else:
            raise ModelError(
                f"sudoku: no board with {givens} givens and a single solution found in {_PATIENCE} attempts; ask for more givens"
            )
    return np.stack(found)
