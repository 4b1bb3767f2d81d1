from __future__ import annotations

from collections.abc import Iterator

import pytest

from consformer import formats
from consformer.errors import InputError
from consformer.formats.base import Format, content_lines, head, lines_of, shorten, text_of, whole
from consformer.formats.gset import Gset


def test_text_is_utf8_with_or_without_a_mark() -> None:
    assert text_of(b"") == ""
    assert text_of("é\n".encode()) == "é\n"
    assert text_of("\ufeffé".encode()) == "é"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"abc\xe9", r"not a text file \(byte 0xe9 is not UTF-8\)"),
        ("é".encode("utf-16"), r"not a text file \(byte 0xff"),
        (b"abc\x00", "this is a binary file"),
    ],
)
def test_what_is_no_text(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        text_of(data)


def test_lines_are_those_of_an_editor() -> None:
    assert lines_of("") == [""]
    assert lines_of("a\nb\r\nc\rd") == ["a", "b", "c", "d"]
    assert lines_of("a\n\r\nb\n") == ["a", "", "b", ""]
    assert lines_of("a\x0b\x0c\x1c\x85\u2028b") == ["a\x0b\x0c\x1c\x85\u2028b"]  # ends of lines to Python alone


def test_content_lines_keep_their_numbers() -> None:
    text = "# first\n\n  1 2 \n\t\n#\n   # indented\n3 # after\n"
    assert list(content_lines(text)) == [(3, "1 2"), (7, "3 # after")]
    assert list(content_lines("c one\nca two\nthree", comment="c")) == [(3, "three")]


def test_head_looks_at_the_first_lines_of_a_text() -> None:
    assert head(b"# a\n1\n\n2\r\n3\n4\n") == ["1", "2", "3"]
    assert head(b"1\n2\n", lines=1) == ["1"]
    assert head(b"") == []
    assert head(b"1\n\x00\n") == []
    assert head(b"1\n\xff\n") == []


def test_head_does_not_mind_a_letter_cut_in_two() -> None:
    data = b"a" + "é".encode() * 10
    assert head(data, size=4) == ["aé"]
    assert head(data[:4]) == []  # the file itself ends there: damaged


@pytest.mark.parametrize(("word", "number"), [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_whole_numbers(word: str, number: int) -> None:
    assert whole(word) == number


@pytest.mark.parametrize("word", ["", "-1", "+1", "1.0", "1e3", " 1", "1_000", "²", "٣", "x", "1" * 19])
def test_what_is_no_whole_number(word: str) -> None:
    assert whole(word) is None


def test_quotes_are_short_and_on_one_line() -> None:
    assert shorten("a" * 40) == f"'{'a' * 40}'"
    assert shorten("a" * 41) == f"'{'a' * 37}...'"
    assert shorten("a\nb\x1b[1m") == r"'a\nb\x1b[1m'"
    assert shorten("abcdef", width=5) == "'ab...'"


@pytest.fixture
def registry() -> Iterator[dict[str, type[Format]]]:
    before = dict(Format.registry)
    yield Format.registry
    Format.registry.clear()
    Format.registry.update(before)


def test_subclassing_registers(registry: dict[str, type[Format]]) -> None:
    class Another(Gset):
        name = "another"

        def recognises(self, data: bytes) -> bool:
            return data.startswith(b"another")

    assert registry["another"] is Another
    assert formats.recognise(b"another").name == "another"
