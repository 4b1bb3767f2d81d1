from __future__ import annotations

import io

import pytest
import torch

from consformer import formats
from consformer.errors import InputError


def saved(content: object, zipped: bool = True) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer, _use_new_zipfile_serialization=zipped)
    return buffer.getvalue()


def features() -> torch.Tensor:
    tensor = torch.zeros(2, 9, 9, 9)
    tensor[0, 0, 0, 4] = tensor[1, 8, 7, 8] = 1
    return tensor


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.bool])
def test_one_hot_boards_are_read(zipped: bool, dtype: torch.dtype) -> None:
    one, two = formats.read_problems(saved(features().to(dtype), zipped))
    assert one.given.nonzero().numel() == 81  # -1 everywhere but in the first cell, where 4 stands for 5
    assert int(one.given[0]) == 4
    assert int(two.given[79]) == 8
    assert int((two.given >= 0).sum()) == 1


def refused(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        formats.read_problems(data)
    return str(caught.value)


def test_other_content_is_told() -> None:
    assert "must have the shape [boards,9,9,9], not [2, 9, 9]" in refused(saved(features()[..., 0]))
    assert "must hold a single tensor [boards,9,9,9], not a dict" in refused(saved({"x": features()}))
    assert "this is not a torch file" in refused(b"PK\x03\x04 something else")
    assert "this is not a torch file" in refused(saved(features())[:400])
    tensor = features()
    tensor[1, 2, 3, :2] = 1
    assert "board 2, r3c4: a cell must be one-hot" in refused(saved(tensor))
    assert "board 1, r1c1: a cell must be one-hot" in refused(saved(features() * 0.5))


def test_code_in_a_file_is_not_run(tmp_path: object) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (exec, ("raise SystemExit",))

    assert "this is not a torch file of plain tensors" in refused(saved(Evil()))


@pytest.mark.parametrize("data", [b"G", b"\x80", b"\x80\xccK\x01.", b"\x80\x02G", b"J", b"c", b"PK\x03\x04"])
def test_bytes_that_break_the_reader_of_torch(data: bytes) -> None:
    with pytest.raises(InputError, match="not a torch file of plain tensors"):
        formats.read_problems(data, format="satnet")
