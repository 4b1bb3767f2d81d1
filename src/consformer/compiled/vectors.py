"""Short runs of numbers as values of compiled code: they live in registers, and an operation on one is an instruction or two.

Loops over 16 or 32 numbers are too short for the compiler's own ways of doing several at once, above all where it cannot rule out that two
arrays are the same memory. All this is for compiled code only: `size` must be known when it is compiled (a power of two is fastest), `at`
counts numbers from the beginning of an array whose rows lie one after the other, nothing is checked, and nothing keeps an array alive whose
`memory` is worked on: counting who uses it would take longer than the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

SOURCE = Path(__file__)  # what kernels on disk depend on, besides their own file
# Pieces are put into kernels by numba itself, so that there, too, sizes are known.
piece = numba.njit(inline="always")

_FLOAT, _PLACE = ir.FloatType(), ir.IntType(32)
_ANY_ORDER, _FUSED = ("reassoc", "nsz"), ("contract",)


class Vector(types.Type):  # type: ignore[misc]
    """The type of `size` floats side by side."""

    def __init__(self, size: int) -> None:
        self.size = size
        super().__init__(f"Vector({size})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, vector: Vector) -> None:
        super().__init__(manager, vector, _llvm(vector))


def _llvm(vector: Vector) -> ir.VectorType:
    return ir.VectorType(_FLOAT, vector.size)


@intrinsic  # type: ignore[untyped-decorator]
def memory(typing: Any, array: Any) -> Any:
    """Where the numbers of an array are: what the functions below read and write."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic  # type: ignore[untyped-decorator]
def hold(typing: Any, arrays: Any) -> Any:
    """Keeps what a kernel has made itself (a tuple of arrays) in memory until here."""
    return types.void(arrays), lambda context, *_: context.get_dummy_value()


@intrinsic  # type: ignore[untyped-decorator]
def get(typing: Any, there: Any, at: Any) -> Any:
    """One number."""
    return there.dtype(there, at), lambda _, builder, __, arguments: builder.load(builder.gep(*_place(arguments)))


@intrinsic  # type: ignore[untyped-decorator]
def put(typing: Any, there: Any, at: Any, number: Any) -> Any:
    """Write one number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], builder.gep(*_place(arguments)))
        return context.get_dummy_value()

    return types.void(there, at, there.dtype), generate


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def load(typing: Any, there: Any, at: Any, size: Any) -> Any:
    """`size` numbers."""
    vector = Vector(size.literal_value)
    return vector(there, at, size), lambda _, builder, __, arguments: builder.load(_run(builder, arguments, vector), align=4)


@intrinsic  # type: ignore[untyped-decorator]
def store(typing: Any, there: Any, at: Any, vector: Any) -> Any:
    """Write a vector."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _run(builder, arguments, vector), align=4)
        return context.get_dummy_value()

    return types.void(there, at, vector), generate


def _place(arguments: Any) -> tuple[Any, list[Any]]:
    return arguments[0], [arguments[1]]


def _run(builder: Any, arguments: Any, vector: Vector) -> Any:
    """The address of a vector in memory."""
    return builder.bitcast(builder.gep(*_place(arguments)), _llvm(vector).as_pointer())


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def fill(typing: Any, number: Any, size: Any) -> Any:
    """The same number `size` times."""
    vector = Vector(size.literal_value)
    return vector(types.float32, size), lambda _, builder, __, arguments: _filled(builder, arguments[0], vector)


def _filled(builder: Any, number: Any, vector: Vector) -> Any:
    nothing = ir.Constant(_llvm(vector), ir.Undefined)
    one = builder.insert_element(nothing, number, _PLACE(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_PLACE, vector.size), [0] * vector.size))


def _binary(operation: Callable[[Any, Any, Any], Any], explanation: str) -> Any:
    def typed(typing: Any, left: Any, right: Any) -> Any:
        return left(left, right), lambda _, builder, __, arguments: operation(builder, *arguments)

    typed.__doc__ = explanation
    return intrinsic(typed)


add = _binary(lambda builder, left, right: builder.fadd(left, right, flags=_FUSED), "left + right")
times = _binary(lambda builder, left, right: builder.fmul(left, right, flags=_FUSED), "left * right, number by number")
highest = _binary(lambda builder, left, right: builder.select(builder.fcmp_ordered(">", left, right), left, right), "The higher ones.")


@intrinsic  # type: ignore[untyped-decorator]
def add_times(typing: Any, vector: Any, number: Any, other: Any) -> Any:
    """vector + number * other, where the number is one for all."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        added = builder.fmul(_filled(builder, arguments[1], vector), arguments[2], flags=_FUSED)
        return builder.fadd(arguments[0], added, flags=_FUSED)

    return vector(vector, types.float32, other), generate


@intrinsic  # type: ignore[untyped-decorator]
def total(typing: Any, vector: Any) -> Any:
    """The sum of the numbers."""
    return types.float32(vector), lambda _, builder, __, arguments: _summed(builder, arguments[0], vector.size)


def _summed(builder: Any, vector: Any, size: int) -> Any:
    kind = ir.FunctionType(_FLOAT, [_FLOAT, vector.type])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fadd.v{size}f32")
    return builder.call(function, [ir.Constant(_FLOAT, 0.0), vector], fastmath=_ANY_ORDER)


@intrinsic  # type: ignore[untyped-decorator]
def peak(typing: Any, vector: Any) -> Any:
    """The highest of the numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_FLOAT, [_llvm(vector)])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.fmax.v{vector.size}f32")
        return builder.call(function, [arguments[0]])

    return types.float32(vector), generate


@intrinsic  # type: ignore[untyped-decorator]
def totals(typing: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    """The sums of eight vectors of the same size, as a vector.

    One by one, most of the work would be moving numbers next to each other. Vectors of eight are added up together: neighbours of two
    vectors become one vector, until each half of two vectors holds halves of four sums. (Registers are two halves of four numbers, and it
    is quick to move numbers within a half.)
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vectors = list(arguments)
        if a.size != 8:
            sums = ir.Constant(ir.VectorType(_FLOAT, 8), ir.Undefined)
            for place, vector in enumerate(vectors):
                sums = builder.insert_element(sums, _summed(builder, vector, a.size), ir.Constant(_PLACE, place))
            return sums
        for even, odd in (_NEIGHBOURS, _NEIGHBOURS, _HALVES):
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [builder.fadd(_picked(builder, *pair, even), _picked(builder, *pair, odd), flags=_FUSED) for pair in pairs]
        return vectors[0]

    return Vector(8)(*[a] * 8), generate


# Of two vectors of eight, numbered from 0 to 15, what is added to what.
_NEIGHBOURS = (0, 2, 8, 10, 4, 6, 12, 14), (1, 3, 9, 11, 5, 7, 13, 15)
_HALVES = (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)


def _picked(builder: Any, left: Any, right: Any, places: Sequence[int]) -> Any:
    return builder.shuffle_vector(left, right, ir.Constant(ir.VectorType(_PLACE, len(places)), list(places)))


# 2 to the power of a number from 0 to 2, as a polynomial; highest powers first.
_SERIES = tuple(np.float32(number) for number in (1.8775767e-3, 8.9893397e-3, 5.5826318e-2, 2.4015361e-1, 6.9315308e-1, 9.9999994e-1))
_LOWEST = np.float32(-120)  # powers below are next to nothing, and would not fit the exponent of a number


@piece  # type: ignore[untyped-decorator]
def power_of_two(x: Any) -> Any:
    """2 to the power of x, a number that is not above 0; 0 or next to it where x is below -120.

    A polynomial for the part after the point, the rest is added to the exponent: instructions that work on several numbers at once.
    """
    power = max(x, _LOWEST)
    whole = np.int32(power) - np.int32(1)
    part = power - np.float32(whole)
    power = _SERIES[0]
    power = power * part + _SERIES[1]
    power = power * part + _SERIES[2]
    power = power * part + _SERIES[3]
    power = power * part + _SERIES[4]
    power = power * part + _SERIES[5]
    return np.int32(np.float32(power).view(np.int32) + np.int32(whole << 23)).view(np.float32)


@intrinsic  # type: ignore[untyped-decorator]
def powers_of_two(typing: Any, vector: Any) -> Any:
    """The same of all numbers of a vector."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        floats, places = _llvm(vector), ir.VectorType(_PLACE, vector.size)

        def constant(number: Any) -> Any:
            return ir.Constant(floats, [float(number)] * vector.size)

        lowest = constant(_LOWEST)
        x = builder.select(builder.fcmp_ordered(">", arguments[0], lowest), arguments[0], lowest)
        whole = builder.sub(builder.fptosi(x, places), ir.Constant(places, [1] * vector.size))
        part = builder.fsub(x, builder.sitofp(whole, floats))
        power = constant(_SERIES[0])
        for number in _SERIES[1:]:
            power = builder.fadd(builder.fmul(power, part, flags=_FUSED), constant(number), flags=_FUSED)
        exponent = builder.shl(whole, ir.Constant(places, [23] * vector.size))
        return builder.bitcast(builder.add(builder.bitcast(power, places), exponent), floats)

    return vector(vector), generate
