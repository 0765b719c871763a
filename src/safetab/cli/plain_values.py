"""Arguments that need no checker of types: loading that one takes longer than reading a small census."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Any

from typer._coercion import RuntimeParam, build_runtime_param
from typer._param_types import coerce_cli_path

_SMALL_NUMBER = re.compile("[0-9]{1,9}", re.ASCII)


class PlainValue(RuntimeParam):
    """Does what typer's own would for paths, texts, choices and small numbers; all else it leaves to that one."""

    def _coerce_value(self, value: Any, param: Any, ctx: Any) -> Any:
        if self.annotation is Path and _is_plain_text(value):
            return coerce_cli_path(Path(value), self.parameter_info, path_type=Path, param=param, ctx=ctx)
        if self.annotation is str and _is_plain_text(value):
            return value
        if isinstance(self.annotation, type) and issubclass(self.annotation, Enum):
            chosen = [one for one in self.annotation if value in {one, one.value}]
            if chosen:
                return chosen[0]
        if self.annotation is int and self._is_small_number(value):
            return int(value)
        return build_runtime_param(param.type_descriptor)._coerce_value(value, param=param, ctx=ctx)

    def _is_small_number(self, value: object) -> bool:
        """Whole, of a few digits, and in the range that the option has, if any."""
        least, most = self.parameter_info.min, self.parameter_info.max
        if not _SMALL_NUMBER.fullmatch(str(value)):
            return False
        return (least is None or int(str(value)) >= least) and (most is None or int(str(value)) <= most)


def take_plain_values(parameter: Any) -> None:
    """Gives a parameter of typer the reader of values above."""
    described = getattr(parameter, "type_descriptor", None)
    if described is not None and parameter._runtime_param is None:
        parameter._runtime_param = PlainValue(described.parameter_info, described.annotation)


def _is_plain_text(value: object) -> bool:
    """Not so: bytes of the command line that are no UTF-8, and what no path may have."""
    return isinstance(value, str) and value.isprintable() and value != ""
