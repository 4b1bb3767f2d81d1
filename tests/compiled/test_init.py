from __future__ import annotations

from pathlib import Path

from consformer import compiled


def test_what_cannot_be_loaded_is_told() -> None:
    assert compiled.failure("backtrack") is None
    assert "No module named 'consformer.compiled.nothing'" in str(compiled.failure("nothing"))


def test_code_on_disk_has_another_name_when_a_file_changes(tmp_path: Path) -> None:
    def name() -> str:
        def function() -> None: ...

        return compiled.stamped(tmp_path / "one.py", tmp_path / "two.py")(function).__qualname__

    (tmp_path / "one.py").write_text("1")
    (tmp_path / "two.py").write_text("2")
    before = name()
    assert name() == before
    (tmp_path / "two.py").write_text("3")
    assert name() != before
