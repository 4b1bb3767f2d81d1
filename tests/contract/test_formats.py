"""What every registered format must fulfil. A new format is tested here without an edit."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consformer import families, formats
from consformer.csp import CSP
from consformer.errors import InputError
from consformer.formats import Format

every_format = pytest.mark.parametrize("format", [formats.get(name) for name in formats.names()], ids=formats.names())


@every_format
def test_sample_is_recognised_by_this_format_alone(format: Format) -> None:
    assert [name for name in formats.names() if formats.get(name).recognises(format.sample())] == [format.name]


@every_format
def test_sample_is_read_as_problems(format: Format) -> None:
    csps = formats.read_problems(format.sample())
    assert csps
    assert all(isinstance(csp, CSP) for csp in csps)
    if format.default_family is not None:
        assert {csp.family for csp in csps} == {format.default_family}


@every_format
def test_sample_is_documented(format: Format) -> None:
    assert format.summary
    assert "\n" not in format.summary
    assert format.default_family is None or format.default_family in families.names()


def read_or_refuse(data: bytes, format: str | None) -> None:
    """Anything at all is read, or refused in one line."""
    message = "data"
    try:
        formats.read_problems(data, format=format)
    except InputError as error:
        message = str(error)
    assert "\n" not in message
    assert message.startswith("data")
    assert len(message) < 400


@every_format
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_one_line(format: Format, data: bytes) -> None:
    read_or_refuse(data, format.name)
    read_or_refuse(data, None)


@every_format
@given(data=st.data())
@settings(max_examples=40)
def test_damaged_samples_are_read_or_refused_in_one_line(format: Format, data: st.DataObject) -> None:
    sample = format.sample()
    start = data.draw(st.integers(0, len(sample)))
    end = data.draw(st.integers(start, min(len(sample), start + 20)))
    patch = data.draw(st.one_of(st.binary(max_size=4), st.sampled_from([b"-1", b"99999999999999999999", b"x", b"\n", b" ", b"0.5", b","])))
    read_or_refuse(sample[:start] + patch + sample[end:], format.name)


@every_format
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_other_systems_are_fine(format: Format, end: str) -> None:
    if format.name != "satnet":
        csps = formats.read_problems(format.sample().replace(b"\n", end.encode()))
        assert len(csps) == len(formats.read_problems(format.sample()))


@every_format
def test_empty_content_is_told(format: Format) -> None:
    with pytest.raises(InputError, match=re.escape("data: the file is empty")):
        formats.read_problems(b" \n", format=format.name)
