"""Evaluation: what share of a set a network solves by itself, after how many iterations and seconds."""

from consformer.evaluation.run import Evaluation, Limits, Rival
from consformer.evaluation.sets import ProblemSet, load_set, set_names
from consformer.evaluation.summary import Summary, interval

__all__ = ["Evaluation", "Limits", "ProblemSet", "Rival", "Summary", "interval", "load_set", "set_names"]
