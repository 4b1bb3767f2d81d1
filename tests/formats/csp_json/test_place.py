from __future__ import annotations

import pytest

from consformer.errors import InputError
from consformer.formats.csp_json.place import Place, show

DOCUMENT = {"names": ["a", True, 3], "info": {"deep": [[0, "x"]]}}


def test_the_way_to_an_entry_is_told() -> None:
    for root, start in (("", ""), ("[2]", "[2].")):
        place = Place(DOCUMENT, key=root)
        assert place["info"]["deep"].items()[0].items()[1].path == f"{start}info.deep[0][1]"
        assert str(place.error("is wrong")) == (f"{root}: is wrong" if root else "is wrong")
        with pytest.raises(InputError, match=r'the key "shape" is missing$'):
            place["info"]["shape"]


def test_entries_must_be_what_is_asked_for() -> None:
    place = Place(DOCUMENT)
    first, second, third = place["names"].items(3)
    assert (first.as_text(), second.as_flag(), third.as_label()) == ("a", True, 3)
    assert place.get("objective", {}).as_object() == {}
    assert "names" in place
    for ask, message in (
        (third.as_text, r"names\[2\]: must be a text, not 3"),
        (third.as_flag, r"names\[2\]: must be true or false, not 3"),
        (second.as_label, r"names\[1\]: must be a text or a whole number, not True"),
        (place["info"].as_list, "info: must be a list, not {'deep': "),
        (place["names"].as_object, r"names: must be an object, not \['a', True, 3\]"),
        (lambda: place.as_object({"properties": {"name": {}, "info": {}}}), "unknown key 'names': did you mean 'name'"),
        (lambda: place["names"].items(2), "names: must have 2 entries, one per variable, not 3"),
    ):
        with pytest.raises(InputError, match=message):
            ask()


def test_quotes_are_short() -> None:
    endless: list[object] = []
    for _ in range(10**5):
        endless = [endless]
    assert show(endless) == show(10**5000) == "something huge"
    assert len(show("é" * 1000)) == 60
