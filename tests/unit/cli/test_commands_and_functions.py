"""Every command has its function in Python, and what is old in Python still works, with a warning."""

import inspect
import pkgutil
from operator import attrgetter

import pytest
import typer

import safetab
from safetab.cli.main import app
from tests.cases import cases_of
from tests.inside import SAFETAB_P

SAME = (
    "accuracy audit blocks-with-units compare convert demo diff docs explore export lists new official plan registry"
    " report rerelease run sign site spend status synthesize validate verify"
)
OTHERS = """
cef blocks | blocks_with_units
cef convert | convert
coterminous | rerelease
selftest | audit
show | open_release
tune budget | tuning.least_budget
tune codes | tuning.multiplicities
tune curve | tuning.tuning_of
tune levels | tuning.tuning_of
tune margins | tuning.best_margins
tune noise | tuning.compare_noises
tune table-moe | tuning.tuning_of
tune table-thresholds | tuning.tuning_of
tune threshold | tuning.threshold_for
"""
"""Commands whose function has another name: it has these checks and more, or answers in more ways."""

FUNCTIONS = {name: name.replace("-", "_") for name in SAME.split()}
FUNCTIONS |= dict(cases_of(OTHERS))

OPTIONS = {
    "sign": {"--new-key": "new_key"},
    "spend": {
        "--against": "check_spend_log",
        "--check": "check_spend_log",
        "--merge": "merge_spend_logs",
        "--table": "AccountsOfLog.statement",
    },
}
"""Options that do something else than their command, and have functions of their own."""


def commands_of(group, before=""):
    found = set()
    for name, command in group.commands.items():
        found |= commands_of(command, f"{before}{name} ") if hasattr(command, "commands") else {before + name}
    return found


def test_every_command_has_its_function():
    assert commands_of(typer.main.get_command(app)) == {*FUNCTIONS}
    assert {*FUNCTIONS.values()} <= {*safetab.__all__, *(f"tuning.{name}" for name in safetab.tuning.__all__)}
    assert all(callable(attrgetter(name)(safetab)) for name in FUNCTIONS.values())


def test_every_option_of_a_command_is_an_argument_or_a_function():
    """Checked for the two commands that do several things."""
    commands = typer.main.get_command(app).commands
    for name, others in OPTIONS.items():
        options = {option for each in commands[name].params for option in each.opts if option.startswith("--")}
        arguments = {f"--{each.replace('_', '-')}" for each in inspect.signature(getattr(safetab, name)).parameters}
        assert options - arguments - others.keys() <= {"--output", "--json", "--quiet"}, name
        assert others.keys() <= options
        assert all(callable(attrgetter(function)(safetab)) for function in others.values())


def test_no_room_of_the_package_has_the_name_of_a_function():
    """It would take the function's place as soon as it is imported."""
    assert {one.name for one in pkgutil.iter_modules(safetab.__path__)} & {*safetab.__all__} <= {"tuning"}


def test_an_older_name_works_with_a_warning_that_says_for_how_long():
    words = r"safetab\.assess is an older name of safetab\.accuracy\. It works until version 2\.0\."
    with pytest.warns(DeprecationWarning, match=words) as caught:
        assert safetab.assess is safetab.accuracy
    assert caught[0].filename == __file__
    assert "assess" not in {*dir(safetab), *safetab.__all__}


def test_older_names_of_values_and_methods_warn_at_the_line_that_uses_them():
    old = pytest.warns(DeprecationWarning, match="engine='duckdb' is an older name of engine='local'")
    with old as caught, pytest.raises(safetab.InvalidInput):
        safetab.validate("no parameters", "no data", engine="duckdb")
    assert caught[0].filename == __file__
    answers = safetab.Answers((), product=SAFETAB_P)
    for result, name in (answers, "answers"), (safetab.Areas(()), "areas"), (safetab.Groups(()), "groups"):
        with pytest.warns(DeprecationWarning, match=rf"\.{name} is an older name of \w+\.items") as caught:
            assert getattr(result, name) == ()
        assert caught[0].filename == __file__
