"""The Sudoku tensors of SATNet: `features.pt`, one-hot boards."""

from __future__ import annotations

import io
import warnings

import torch

from consformer.errors import InputError
from consformer.formats.base import Format
from consformer.formats.payloads import Board, Payload

_ZIP, _LEGACY = b"PK\x03\x04", b"\x80\x02"


class Satnet(Format):
    """A torch file with one tensor [boards,N,N,N]: one-hot values by row and column, all zeros for a blank cell."""

    name = "satnet"
    summary = "SATNet's features.pt: a torch tensor [boards,9,9,9], one-hot, zeros for a blank"
    default_family = "sudoku"

    def recognises(self, data: bytes) -> bool:
        return data.startswith((_ZIP, _LEGACY))

    def read(self, data: bytes) -> list[Payload]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about files that are refused anyway
                tensor = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        except Exception:  # torch's reader fails in many ways on bytes that are none of its own
            raise InputError(
                "this is not a torch file of plain tensors, or it is damaged; write it with torch.save(tensor, file)"
            ) from None
        if not isinstance(tensor, torch.Tensor):
            raise InputError(f"the torch file must hold a single tensor [boards,9,9,9], not a {type(tensor).__name__}")
        size = tensor.shape[-1] if tensor.ndim else 0
        if tensor.ndim != 4 or tensor.shape[1:] != (size, size, size) or size not in (4, 9, 16, 25):
            raise InputError(f"the tensor must have the shape [boards,9,9,9], not {list(tensor.shape)}")
        boards = (tensor != 0).long()
        wrong = torch.nonzero((boards.sum(3) > 1) | ((tensor != 0) & (tensor != 1)).any(3))
        if len(wrong):
            board, row, column = (wrong[0] + 1).tolist()
            raise InputError(f"board {board}, r{row}c{column}: a cell must be one-hot (a single 1), or all zeros for a blank")
        cells = torch.where(boards.any(3), boards.argmax(3), -1).numpy()
        return [Board(board) for board in cells]

    @staticmethod
    def sample() -> bytes:
        tensor = torch.zeros(1, 9, 9, 9)
        tensor[0, 0, 0, 4] = tensor[0, 8, 8, 0] = 1
        buffer = io.BytesIO()
        torch.save(tensor, buffer)
        return buffer.getvalue()
