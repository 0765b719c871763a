"""A module that is loaded when it is used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from safetab.foundation.late_module import late_module


def test_a_late_module_is_loaded_when_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "module_of_this_test.py").write_text("import sys\nsys.was_loaded = True\nANSWER = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = late_module("module_of_this_test")
    assert not hasattr(sys, "was_loaded")
    assert module.ANSWER == 42
    assert sys.was_loaded  # type: ignore[attr-defined]
    assert late_module("module_of_this_test") is module
    del sys.was_loaded, sys.modules["module_of_this_test"]  # type: ignore[attr-defined]


def test_a_late_module_that_is_not_there_is_missed_at_once() -> None:
    with pytest.raises(ModuleNotFoundError):
        late_module("no_module_of_this_name")
