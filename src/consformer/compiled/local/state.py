"""Everything that a local search knows: whole numbers in a handful of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]

(
    MOVES,  # done so far
    OPTIMISING,  # TREE: the tree chooses; CHANCE: annealing; 0: variables in conflict do
    VIOLATIONS,  # of hard constraints, of the values as they are
    COST,  # of soft constraints
    TOTAL,  # all with the weights of the moment, up to a constant
    LEAST,  # the lowest TOTAL since weights last changed: what lets a move pass that is tabu
    BEST_VIOLATIONS,
    BEST_COST,
    PEAK_VIOLATIONS,  # best since the last restart
    PEAK_COST,
    HOME_VIOLATIONS,  # what the last restart began from
    HOME_COST,
    PENDING,  # 1: the values are the best since the last restart, and not yet written down
    STALE,  # moves since PEAK_* improved
    PATIENCE,  # so many of them, and something is done about it
    ROUND,  # how often something was done since the last improvement of the best
    CONFLICTS,  # how many variables are in conflict
    STEP,  # what is added to the weight of a hard constraint that stays violated
    TENURE,  # least number of moves for which a value that was left is tabu
    FREE,  # variables that can move
    STRENGTH,  # how many variables a restart moves
    HEAT,  # the highest temperature of this annealing, in eighths
    COOLING,  # how many moves it takes,
    COOL,  # and how many are left
    LEVEL,  # how often it was done: it takes up to twice as long each time
    UNTIL,  # the move with which to begin again at the latest
    PEAK_CHANGED,  # how many variables stand in PEAK_CHANGES; -1: any may have changed
    BEST_CHANGED,
    SWEEP,  # whose turn it is in annealing
) = range(29)
NUMBERS = 29
LONGEST = 8  # times as long, as a power of two
TREE, CHANCE = 1, 2

FORBIDDEN = 1 << 60  # what a value outside the domain costs
NOTHING = 1 << 62  # in the tree: no move
CHANCES = 1024
SCAN = 4000  # up to so many moves of variables in conflict are all looked at,
SAMPLE = 250  # of more only so many


# The columns of `variable`, `pair`, `scope` and `ring`. Few arrays with many columns are what the compiler is quick with.
VALUE, BASE, MOVABLE, PLACE, FIRST_PAIR, FIRST_TALLY, PEAK_MARK, BEST_MARK = range(8)
OTHER, WEIGHT, UNIT = range(3)
FIRST_MEMBER, COUNTED, LOW, HIGH, STEEP, SCOPE_WEIGHT, HARD, CELL = range(8)
HEAD, FOLLOWING, LEFT = range(3)
PEAK, BEST, HOME, BAD, CHOICE, PEAK_CHANGES, BEST_CHANGES = range(7)  # the rows of `kept`


class State(NamedTuple):
    """Everything a search knows, of n variables, m values, E directed pairs, G counted scopes with M variables in all."""

    # [n+1,8] the value it has; what `table` is less than the truth; 0 or 1; where in BAD, or -1; where its pairs and scopes begin; whether
    # it stands in PEAK_CHANGES and in BEST_CHANGES
    variable: Whole
    table: Whole  # [n,m] what each value costs
    tabu: Whole  # [n,m] the move from which on a value may be taken again
    # [E,3] the other variable; what the same value costs, negative where it is wanted; 1 or -1 for a hard constraint, 0 for a soft one
    pair: Whole
    scope: Whole  # [G+1,8] where its variables begin; the value or -1; bounds; 0 or 1; weight; 0 or 1; where its counts begin
    member: Whole  # [M] the variables of the scopes
    tally: Whole  # [M] the scopes of the variables
    counts: Whole  # how many variables of a scope have a value
    tree: Whole  # [2 * power of two] the least cost of a move of any variable below, with noise in the last bits
    ring: Whole  # [R,3] by move: the first value that is tabu until then; the next one after it; what was left (variable * m + value)
    # [7,n] best values since the last restart; best of all; what the restart began from; the variables in conflict; those that can move;
    # those that moved since the first and since the second row were written
    kept: Whole
    chances: Whole  # [CHANCES] quantiles of the exponential distribution, times CHANCES
    offers: Whole  # room for the cost of the best move of each variable that is looked at; no more moves are than this is long
    numbers: Whole  # [NUMBERS]
    random: NDArray[np.uint64]  # [1] xorshift
