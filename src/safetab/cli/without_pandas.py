"""Arrow imports pandas where it is installed, which takes longer than a small run; only Spark has a use for it."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType


class WithoutPandas:
    """To whoever asks in this process, pandas is not installed. No subclass of a finder: loading that one is slow."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:  # noqa: ARG002
        if fullname == "pandas":
            raise ModuleNotFoundError("the commands work without pandas", name=fullname)
