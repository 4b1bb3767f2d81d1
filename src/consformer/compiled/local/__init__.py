"""Local search on a table of what each value of each variable costs, kept up to date.

All of it works on a `State`, in place, and is plain Python that is compiled; `plain` gives the same functions as they are. Everything is
a whole number, so that a table that went through a million updates is exactly the one made anew.

There are two ways to choose a move. To *repair*, where nothing is soft: the best move of a variable in conflict (as TabuCol does). To
*optimise*: the best move of all, which a tournament tree over the variables knows without looking at each; annealing takes turns with it.
"""
