"""The any-CSP network (see `layered`) on what is open: a state only where a variable is to be updated, and a value is not ruled out for it
by a variable that is not.

On a Sudoku board with 25 givens these are two hundred of 729 pairs, on a Latin square of order 30 with 374 holes two thousand of 27,000;
and variables attend to those only with which they still compete for a value. What is given and what just stays as it is are the same to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from consformer import compiled
from consformer.csp import CSP
from consformer.graph import Graph
from consformer.networks.attention import SparseLayout
from consformer.networks.base import MASKED
from consformer.networks.inputs import HIGHEST_CONFLICT, conflict_inputs
from consformer.networks.layered import LayeredConfig, LayeredNetwork

if TYPE_CHECKING:
    from consformer.compiled.chain import Iterations, Stack

FEATURES = 11


class OpenNetwork(LayeredNetwork):
    architecture = "open"
    universal = True
    config_type = LayeredConfig

    def __init__(self, config: LayeredConfig) -> None:
        super().__init__(config, FEATURES)
        self._stack: Stack | None = None  # the weights as compiled iterations like them

    def compiled(self) -> Self:
        other = super().compiled()
        if other._compiled is not None and other._stack is None:
            from consformer.compiled.chain import Stack, iterations

            iterations(*other.sizes)  # loads them: later nobody has to wait
            other._stack = Stack.of(other, other._compiled)
        return other

    def forward(self, csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor, *, drafts: bool = False) -> Tensor:
        learning = drafts or torch.is_grad_enabled()
        quickly = compiled.available() if learning else self._compiled is not None
        tokens = Tokens.of(csp, values, subset, quickly)
        if not len(tokens.variable):  # nothing is to be updated
            return tokens.put(torch.zeros(0), csp, values).repeat(self.config.repeat if drafts else 1, 1, 1)
        current = csp.one_hot(values)  # [K,n,m]
        outside, inside, floor = conflict_inputs(csp, current, subset)
        outside, inside, current = (tokens.pick(x) for x in (outside, inside, current))  # [T]
        warmth = temperature[tokens.candidate, csp.instance[tokens.variable]]  # [T]
        features = _features(csp, tokens, current, outside, inside, floor, warmth)  # [T,F]
        told = self.inputs(features)[:, None]  # [T,1,c]
        if self._compiled is None or learning:
            found = self.turns(told, tokens, drafts)
        else:
            from consformer.compiled.layers import Groups

            found = [self._compiled(told, self.config.repeat, tokens.graph, Groups.of_runs(tokens.lengths))]
        plain = self.skip[0] * outside + self.skip[1] * inside
        return torch.cat([tokens.put((x[:, 0] - plain) / warmth, csp, values) for x in found])

    def iterations(self, csp: CSP) -> Iterations | None:
        if self._stack is None or any(constraint.any_soft or constraint.differences() is None for constraint in csp.constraints):
            return None
        from consformer.compiled.chain import Iterations

        return Iterations(self, self._stack, csp)


@dataclass(frozen=True, eq=False)
class Tokens:
    """The open (candidate, variable, value) triples, in this order, and who competes with whom for the same value."""

    candidate: Tensor  # [T]
    variable: Tensor  # [T]
    value: Tensor  # [T]
    lengths: Tensor  # [V] how many there are of each variable of each candidate that has any
    owner: Tensor  # [T] which of these it belongs to
    graph: Graph

    @staticmethod
    def of(csp: CSP, values: Tensor, subset: Tensor, quickly: bool = False) -> Tokens:
        """Of assignments [K,n] of which a subset [K,n] is to be updated; `quickly`: by compiled code."""
        if csp not in _KNOWN:
            _KNOWN[csp] = Field.of(csp)
        field = _KNOWN[csp]
        kept = field.left(values, subset, quickly)  # [K,F]
        candidate, place = torch.nonzero(kept).unbind(1)
        graph = Graph(field.between(kept, quickly), (len(place),))
        variable = field.variable[place]
        _, owner, lengths = torch.unique_consecutive(candidate * csp.n + variable, return_inverse=True, return_counts=True)
        return Tokens(candidate, variable, field.value[place], lengths, owner, graph)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if not (torch.is_grad_enabled() and compiled.available()):  # a long search asks for compiled layers, a short one is over before
            return SparseLayout(self.graph).attend(q, k, v)
        from consformer.compiled.learning import attend  # only now: it loads the compiler

        return attend(q, k, v, self.graph)

    def over_values(self, x: Tensor) -> Tensor:
        """[T,1,c] -> [V,1,2c]."""
        found = [torch.segment_reduce(x[:, 0], how, lengths=self.lengths, axis=0) for how in ("mean", "max")]
        return torch.cat(found, -1)[:, None]

    def spread(self, x: Tensor) -> Tensor:
        """[V,1,e] -> [T,1,e]."""
        return x.index_select(0, self.owner)

    def pick(self, x: Tensor) -> Tensor:
        """[K,n,m] -> [T]."""
        return x[self.candidate, self.variable, self.value]

    def put(self, x: Tensor, csp: CSP, values: Tensor) -> Tensor:
        """Logits [T] -> [K,n,m]; a variable that is not updated has one value, the one that it has."""
        logits = torch.full((*values.shape, csp.m), MASKED).scatter(-1, values[..., None], 0.0)
        updated = torch.zeros(values.shape, dtype=torch.bool)
        updated[self.candidate, self.variable] = True
        logits = logits.masked_fill(updated[..., None], MASKED)
        return logits.index_put((self.candidate, self.variable, self.value), x)


@dataclass(frozen=True, eq=False)
class Field:
    """What can be open at all in a problem, whatever is updated: the values of free variables that no fixed one rules out."""

    variable: Tensor  # [F]
    value: Tensor  # [F]
    edges: Tensor  # [2,E] (to, from) of those with the same value whose variables share a constraint, and of each with itself, sorted
    rivals: Tensor  # [2,R] those of them of which one rules out the other, because their variables must differ

    @staticmethod
    def of(csp: CSP) -> Field:
        open_values = csp.open & csp.free[:, None]  # [n,m]
        number = open_values.flatten().cumsum(0).view_as(open_values) - 1
        variable, value = torch.nonzero(open_values).unbind(1)
        to, source = csp.graph.edges
        shared, common = torch.nonzero(open_values[to] & open_values[source]).unbind(1)
        edges = torch.stack([number[to[shared], common], number[source[shared], common]])
        order = torch.argsort(edges[0] * len(variable) + edges[1])
        different = torch.isin(to * csp.n + source, csp.differences[0] * csp.n + csp.differences[1])
        edges = edges[:, order]
        return Field(variable, value, edges, edges[:, different[shared[order]]])

    @cached_property
    def _by_place(self) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """The edges, and those of rivals: where those to each begin [F+1], and whence they come."""
        places = torch.arange(len(self.variable) + 1)
        (near, rivals) = ((torch.searchsorted(to.contiguous(), places), source.contiguous()) for to, source in (self.edges, self.rivals))
        return near, rivals

    def left(self, values: Tensor, subset: Tensor, quickly: bool = False) -> Tensor:
        """[K,F] what is open of the variables to be updated [K,n], given the values [K,n] of the others; of one that has nothing, all.

        A value that a fixed variable rules out for another that has it all the same, because it was drawn at random, rules out nothing.
        """
        if quickly:
            from consformer.compiled.tokens import left  # only now: it loads the compiler

            return left(values, subset, self.variable, self.value, self._by_place[1])
        asked = subset[:, self.variable]
        if bool(asked.all()):
            return asked
        held = ~asked & (values[:, self.variable] == self.value)  # [K,F]
        to, source = self.rivals
        taken = torch.zeros(held.shape).index_add_(1, to, held[:, source].float()) > 0
        kept = asked & ~taken
        count = torch.zeros(subset.shape).index_add_(1, self.variable, kept.float())
        return kept | (asked & (count == 0)[:, self.variable])

    def between(self, kept: Tensor, quickly: bool = False) -> Tensor:
        """[2,E] the edges between what is kept [K,F], which are numbered in order."""
        if quickly:
            from consformer.compiled.tokens import edges

            return edges(kept, self._by_place[0])
        number = kept.flatten().cumsum(0).view_as(kept) - 1
        to, source = self.edges
        copy, edge = torch.nonzero(kept[:, to] & kept[:, source]).unbind(1)
        return torch.stack([number[copy, to[edge]], number[copy, source[edge]]])


_KNOWN: WeakKeyDictionary[CSP, Field] = WeakKeyDictionary()


def _features(csp: CSP, tokens: Tokens, current: Tensor, outside: Tensor, inside: Tensor, floor: Tensor, warmth: Tensor) -> Tensor:
    """[T,F]: everything the network is told about a variable and a value."""
    sizes = tokens.lengths.float()[tokens.owner]
    columns = [
        floor[tokens.candidate, tokens.variable, 0].clamp(max=HIGHEST_CONFLICT),
        warmth.log(),
        0.25 / warmth,
        current,
        outside.clamp(-HIGHEST_CONFLICT, HIGHEST_CONFLICT),
        inside.clamp(-HIGHEST_CONFLICT, HIGHEST_CONFLICT),
        (outside < 0.5).to(warmth.dtype),
        torch.log1p(tokens.graph.degree.float()) / 3,
        torch.log1p(csp.graph.degree.float())[tokens.variable] / 3,
        torch.log(sizes),
        1 / sizes,
    ]
    return torch.stack(columns, -1)
