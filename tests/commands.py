"""Commands of safetab in this process, as a user gives them."""

from __future__ import annotations

from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from safetab.cli.main import app


def cli(*arguments: object, **given: Any) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], **given)


def done(*arguments: object, **given: Any) -> str:
    """What a command that must succeed says."""
    result = cli(*arguments, **given)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments: object, code: int = 1) -> str:
    """What a command that must not succeed says, in one line."""
    result = cli(*arguments)
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())
