"""Commands of safetab in this process, as a user gives them, and what they and the functions of the package refuse."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from safetab import InvalidInput
from safetab.cli.main import app


def cli(*arguments, **given):
    return CliRunner().invoke(app, [str(one) for one in arguments], **given)


def done(*arguments, **given):
    """What a command that must succeed says."""
    result = cli(*arguments, **given)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments, code=1):
    """What a command that must not succeed says, in one line."""
    result = cli(*arguments)
    assert isinstance(result.exception, SystemExit), "an error of the program itself"
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def invalid(function, *given, **named):
    """What a function of the package says of input that it must refuse."""
    with pytest.raises(InvalidInput) as told:
        function(*given, **named)
    return str(told.value)


def ran(program, *words, check=False, **more):
    """A program of Python's in a process of its own, which has ended."""
    arguments = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(arguments, capture_output=True, text=True, check=check, **more)


def raising(error):
    """To be put in the place of a function that fails."""

    def raises(*_, **__):
        raise error

    return raises


def refusing(number):
    """As `raising`, with an error of the operating system."""
    return raising(OSError(number, os.strerror(number)))
