from __future__ import annotations

import pytest
import torch
from torch import Tensor

from consformer.errors import ConsformerError
from consformer.search.schedule import Annealed, Drawn, Fixed, InTurn, Moment, Reheated, Sawtooth, Schedule, Tapered, parse_schedule


def numbers(schedule: Schedule, age: list[int], progress: list[float] | None = None, pool: int = 2, seed: int = 0) -> Tensor:
    shares = torch.tensor(progress if progress is not None else [0.0] * len(age))
    rounds = torch.arange(pool)[:, None].repeat(1, len(age))
    spent, free = torch.tensor([age] * pool) + rounds, 100 * torch.arange(len(age))
    found = schedule(Moment(torch.tensor(age), shares, rounds, spent, free, torch.Generator().manual_seed(seed)))
    assert found.shape == (pool, len(age))
    assert found.dtype == torch.float32
    return found


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("0.25", Fixed(0.25)),
        (0.25, Fixed(0.25)),
        (1, Fixed(1.0)),
        (".5", Fixed(0.5)),
        ("5e-3", Fixed(0.005)),
        (1e-05, Fixed(1e-5)),
        ("0.9@110", Tapered(0.9, 110)),
        ("0.7..1", Drawn(0.7, 1.0)),
        (".7...9", Drawn(0.7, 0.9)),
        ("0.5->0.1", Annealed(0.5, 0.1)),
        ("0.1 -> 0.5", Annealed(0.1, 0.5)),
        ("0.5->0.1/200", Sawtooth(0.5, 0.1, 200)),
        ("0.8 -> 0.1 / 1", Sawtooth(0.8, 0.1, 1)),
        ("0.25^1/25", Reheated(0.25, 1.0, 25)),
        ("0.8 | 0.1..0.3", InTurn((Fixed(0.8), Drawn(0.1, 0.3)))),
    ],
)
def test_grammar(text: str | float, schedule: Schedule) -> None:
    assert parse_schedule(text) == schedule
    assert parse_schedule(str(schedule)) == schedule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "warm",
        "0.5-0.1",
        "0.5..",
        "..0.5",
        "0.8@",
        "0.8@0",
        "0.8@1.5",
        "0.25^1",
        "0.25^1/0",
        "0.25^1/2.5",
        "-0.5",
        "nan",
        "inf",
        "1/25",
        "0.2 0.3x",
        "0.8|",
        "|",
        "0->1",
        "0.5->0",
        "0.5->0/9",
        "0.5->0.1/0",
        "0.5->0.1/",
        "0.5->0.1/2.5",
        "0.5..0.9/7",
    ],
)
def test_what_is_not_understood(text: str) -> None:
    with pytest.raises(ConsformerError, match=r"temperature .* is not understood; it can be 0.25"):
        parse_schedule(text, what="temperature")


@pytest.mark.parametrize("text", ["0.9@110", "0.25|0.9@110"])
def test_only_shares_of_variables_depend_on_their_number(text: str) -> None:
    with pytest.raises(ConsformerError, match="is for p"):
        parse_schedule(text, what="temperature", counts=False)


@pytest.mark.parametrize("text", ["0", "1.5", "0..0.5", "0.5->1.5", "0.5->1.5/9", "0.5^2/10", "0.5|1.5", "1e400", 2])
def test_out_of_range(text: str | float) -> None:
    with pytest.raises(ConsformerError, match=r"p .* is out of range: it must be from 1e-09 to 1"):
        parse_schedule(text, high=1.0, what="p")


def test_fixed() -> None:
    assert bool((numbers(Fixed(0.3), [0, 5, 100]) == 0.3).all())


def test_drawn_fills_its_range() -> None:
    found = numbers(Drawn(0.7, 0.9), [0] * 200, pool=20)
    assert float(found.min()) >= 0.7
    assert float(found.max()) <= 0.9
    assert float(found.mean()) == pytest.approx(0.8, abs=0.01)
    assert len(set(found.flatten().tolist())) > 3000  # anew for every candidate and instance
    assert torch.equal(found, numbers(Drawn(0.7, 0.9), [0] * 200, pool=20))
    assert not torch.equal(found, numbers(Drawn(0.7, 0.9), [0] * 200, pool=20, seed=1))


def test_annealed_goes_geometrically_with_progress() -> None:
    found = numbers(Annealed(0.8, 0.2), [0, 7, 9], [0.0, 0.5, 1.0])
    torch.testing.assert_close(found, torch.tensor([[0.8, 0.4, 0.2]] * 2))


def test_a_sawtooth_begins_anew_and_with_every_start_of_a_candidate() -> None:
    found = numbers(Sawtooth(0.8, 0.2, 3), list(range(7)))  # the second candidate is one iteration further
    torch.testing.assert_close(found[0], torch.tensor([0.8, 0.4, 0.2, 0.8, 0.4, 0.2, 0.8]))
    torch.testing.assert_close(found[1], torch.tensor([0.4, 0.2, 0.8, 0.4, 0.2, 0.8, 0.4]))
    assert numbers(Sawtooth(0.8, 0.2, 1), [0, 1, 2], pool=1).tolist() == [[pytest.approx(0.8)] * 3]


def test_reheated_in_every_nth_iteration() -> None:
    found = numbers(Reheated(0.25, 1.0, 3), list(range(7)), pool=1)
    assert found[0].tolist() == [0.25, 0.25, 1.0, 0.25, 0.25, 1.0, 0.25]


def test_in_turn_by_candidate_and_restart() -> None:
    found = numbers(InTurn((Fixed(0.8), Fixed(0.2), Annealed(0.5, 0.1))), [0, 0], [0.0, 1.0], pool=4)
    torch.testing.assert_close(found, torch.tensor([[0.8, 0.8], [0.2, 0.2], [0.5, 0.1], [0.8, 0.8]]))


def test_large_problems_have_smaller_shares_and_larger_blocks() -> None:
    found = numbers(Tapered(0.8, 100), age=[0, 0, 0, 0])  # 0, 100, 200, 300 free ones
    assert found.tolist() == [pytest.approx([0.8, 0.8, 0.8 / 2**0.5, 0.8 / 3**0.5])] * 2
