"""Any CSP as plain JSON in the user's own labels; `docs/csp-json.md` describes it, `csp.schema.json` is its JSON schema.

A file holds one document, a JSON array of documents, or one document per line.
"""

from __future__ import annotations

from consformer.formats.base import Format, text_of
from consformer.formats.csp_json.form import FORMAT, VERSION, schema
from consformer.formats.csp_json.reading import from_document, loads, read_all
from consformer.formats.csp_json.writing import dumps, to_document
from consformer.formats.payloads import Payload


class CspJson(Format):
    """Ready problems: nothing is left to a family."""

    name = "csp_json"
    summary = f'JSON documents with "format": "{FORMAT}": one, an array of them, or one per line'

    def recognises(self, data: bytes) -> bool:
        return data[:65536].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")

    def read(self, data: bytes) -> list[Payload]:
        return list(read_all(text_of(data)))

    @staticmethod
    def sample() -> bytes:
        return b"""{
  "format": "consformer-csp",
  "version": 1,
  "values": ["red", "green"],
  "variables": {"count": 3, "names": ["WA", "NT", "SA"], "fixed": {"0": "red"}},
  "constraints": [
    {"kind": "not_equal", "scope": [0, 1]},
    {"kind": "not_equal", "scope": [1, 2]},
    {"kind": "cardinality", "scope": [0, 1, 2], "value": "red", "count": 2}
  ]
}
"""


__all__ = ["FORMAT", "VERSION", "CspJson", "dumps", "from_document", "loads", "read_all", "schema", "to_document"]
