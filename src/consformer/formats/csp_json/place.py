"""An entry of a JSON document that knows where it stands, so that every complaint about it names the place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from consformer.constraints.base import is_whole
from consformer.csp import Label
from consformer.errors import InputError, did_you_mean


class Place:
    """An entry and the way that leads to it; the text of that way is only made when there is something to complain about.

    >>> document = Place({"constraints": [{"scope": [0, 9]}]})
    >>> document["constraints"].items()[0]["scope"].path
    'constraints[0].scope'
    """

    __slots__ = ("entry", "key", "parent")

    def __init__(self, entry: Any, parent: Place | None = None, key: str | int = "") -> None:
        self.entry, self.parent, self.key = entry, parent, key

    @property
    def path(self) -> str:
        before = "" if self.parent is None else self.parent.path
        if isinstance(self.key, int):
            return f"{before}[{self.key}]"
        return f"{before}.{self.key}" if before else self.key

    def error(self, message: str) -> InputError:
        """To be raised."""
        path = self.path
        return InputError(f"{path}: {message}" if path else message)

    def must_be(self, what: str) -> InputError:
        """To be raised when the entry is something else."""
        return self.error(f"must be {what}, not {show(self.entry)}")

    # --- objects ----------------------------------------------------------------------------------------------

    def as_object(self, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The entry, which must be an object, with no other keys than those of a schema."""
        if not isinstance(self.entry, dict):
            raise self.must_be("an object")
        if schema is not None:
            known = schema["properties"]
            for key in self.entry:
                if key not in known:
                    raise self.error(f"unknown key {show(key)}{did_you_mean(key, known)}")
        return self.entry

    def __contains__(self, key: str) -> bool:
        return key in self.entry

    def __getitem__(self, key: str) -> Place:
        """What an object holds under a key that must be there."""
        if key not in self.entry:
            raise self.error(f'the key "{key}" is missing')
        return Place(self.entry[key], self, key)

    def get(self, key: str, default: Any) -> Place:
        """What an object holds under a key that may be left out."""
        return Place(self.entry.get(key, default), self, key)

    # --- everything else --------------------------------------------------------------------------------------

    def as_list(self, length: int | None = None) -> list[Any]:
        if not isinstance(self.entry, list):
            raise self.must_be("a list")
        if length is not None and len(self.entry) != length:
            raise self.error(f"must have {length} entries, one per variable, not {len(self.entry)}")
        return self.entry

    def items(self, length: int | None = None) -> list[Place]:
        """The entries of a list."""
        return [Place(entry, self, index) for index, entry in enumerate(self.as_list(length))]

    def as_text(self) -> str:
        if not isinstance(self.entry, str):
            raise self.must_be("a text")
        return self.entry

    def as_flag(self) -> bool:
        if not isinstance(self.entry, bool):
            raise self.must_be("true or false")
        return self.entry

    def as_label(self) -> Label:
        if not isinstance(self.entry, str) and not is_whole(self.entry):
            raise self.must_be("a text or a whole number")
        if isinstance(self.entry, str) and any("\ud800" <= character <= "\udfff" for character in self.entry):
            raise self.must_be("valid Unicode text")
        return self.entry


def show(entry: object) -> str:
    """Something wrong to quote in a message, cut short.

    >>> show(["x" * 100])
    "['xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    try:
        text = ascii(entry)
    except (ValueError, RecursionError):  # a number with thousands of digits, lists within lists within lists
        text = "something huge"
    return text if len(text) <= 60 else f"{text[:57]}..."
