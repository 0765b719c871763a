"""What goes wrong in Python is said in Python's words: arguments by their names, and calls for commands."""

import ast
import inspect
import re

import pytest

import safetab
from tests.cases import cases_of
from tests.conftest import PROJECT
from tests.inside import DeclaredOption, declared_options_module, python_name, python_words

P, D, OUT = "parameters", "data", "out"
MISTAKES = {
    "a limit without a log": (lambda: safetab.run(P, D, OUT, spend_limit=4), "spend_limit: needs `spend_log` and `dataset`"),
    "a log without people": (lambda: safetab.run(P, D, OUT, spend_log="log"), "spend_log: needs `dataset`"),
    "another name without a log": (lambda: safetab.run(P, D, OUT, same_people_as=["a"]), "same_people_as: needs"),
    "a short key": (lambda: safetab.run(P, D, OUT, test_key="00"), "test_key: must be 64 hexadecimal digits."),
    "an engine that there is not": (lambda: safetab.run(P, D, OUT, engine="abacus"), "engine: must be one of local"),
    "settings of another engine": (lambda: safetab.run(P, D, OUT, persons="x"), "persons: needs `engine='spark'`"),
    "a confidence above 1": (lambda: safetab.run(P, D, OUT, confidence=2), "confidence: must be a number from 0.5"),
    "a rule that there is not": (lambda: safetab.run(P, D, OUT, rules=["guess"]), 'rules: "guess" is not a rule.'),
    "an order without the step": (lambda: safetab.rerelease(OUT, "new", order="state,county"), "Give `coterminous` too."),
    "copies without the step": (lambda: safetab.rerelease(OUT, "new", copy_all=True), "copy_all: is about the coterminous"),
    "memory without a unit": (lambda: safetab.validate(P, D, memory="much"), "memory: must be a number and a unit"),
    "no folder for temporary files": (lambda: safetab.validate(P, D, temp="none"), "another folder with `temp`."),
    "no runs": (lambda: safetab.accuracy(P, D, OUT, runs=0), "runs: must be from 1 to"),
    "tables that there are not": (lambda: safetab.compare(P, D, OUT, tables="all"), "tables: must be as-released or every"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_names_of_python(mistake, tmp_path, monkeypatch):
    call, words = MISTAKES[mistake]
    monkeypatch.chdir(tmp_path)
    safetab.new(P)
    with pytest.raises(safetab.InvalidInput) as refused:
        call()
    assert words in str(refused.value)
    assert "--" not in str(refused.value)
    assert "the command" not in str(refused.value)


def test_tuning_speaks_of_arguments_too(tmp_path):
    (tmp_path / "census.toml").write_text("census = 1\n")
    findings = safetab.tuning.tuning_of("config.json", tmp_path).findings
    assert (findings[0].file, findings[0].where) == ("tuning_of()", "config")


@pytest.mark.parametrize(
    ("typed", "said"),
    cases_of(
        """
        Add --same-people-as NAME: or | Add `same_people_as=NAME`: or
        Leave out --households or the CEF. | Leave out `households` or the CEF.
        Change it: `safetab spend 'my log' --dataset p --set-limit X` | Change it: `safetab.spend('my log', dataset='p', set_limit=X)`
        `safetab new census` | `safetab.new('census')`
        `safetab validate --confidential-log FILE ...` | `safetab.validate(confidential_log=FILE, ...)`
        `safetab synthesize f --us --overwrite` | `safetab.synthesize('f', us=True, overwrite=True)`
        `safetab sign --new-key FILE` makes | `safetab.new_key(FILE)` makes
        `safetab show NEW` | `safetab.open_release(NEW)`
        out/my--folder and 5--7 stay | out/my--folder and 5--7 stay
        """
    ),
)
def test_commands_and_options_become_calls_and_arguments(typed, said):
    assert python_words(typed) == said


def spoken(path):
    """The texts of a module that are no docstrings; X stands for what is filled in."""
    tree = ast.parse(path.read_text())
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    parts |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "X" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def test_every_call_in_a_message_has_arguments_that_its_function_takes():
    rooms = [path for path in (PROJECT / "src" / "safetab").rglob("*.py") if "cli" not in path.parts]
    speaking = [path for path in rooms if "`safetab " in path.read_text()]
    commands = {each for path in speaking for text in spoken(path) for each in re.findall("`safetab [a-z][^`]*`", text)}
    assert {"`safetab sign --new-key FILE`", "`safetab spend X --dataset X --set-limit X`"} <= commands
    for command in commands:
        call = python_words(command).strip("`").replace(", ...)", ")")
        parsed = ast.parse(call, mode="eval").body
        assert isinstance(parsed, ast.Call), call
        assert isinstance(parsed.func, ast.Attribute), call
        named = [one.arg for one in parsed.keywords if one.arg]
        inspect.signature(getattr(safetab, parsed.func.attr)).bind_partial(*parsed.args, **dict.fromkeys(named))


def test_a_wrong_key_is_answered_with_the_function_that_makes_one(tmp_path):
    (tmp_path / "agency").write_text("no key")
    with pytest.raises(safetab.InvalidInput, match=r"`safetab\.new_key\(FILE\)` makes FILE and FILE\.pub"):
        safetab.verify(tmp_path, key=tmp_path / "agency")
    assert safetab.new_key(tmp_path / "mine").startswith("sha256:")
    assert {path.name for path in tmp_path.iterdir()} == {"agency", "mine", "mine.pub"}
    with pytest.raises(safetab.InvalidInput, match="mine"):
        safetab.new_key(tmp_path / "mine")


def test_every_declared_option_has_the_name_that_messages_give_it():
    declared = [each for each in vars(declared_options_module).values() if isinstance(each, DeclaredOption)]
    several = [each for each in vars(declared_options_module).values() if isinstance(each, tuple)]
    declared += [option for each in several for option in each if isinstance(option, DeclaredOption)]
    flags = {option.name: option.flag or f"--{option.name.replace('_', '-')}" for option in declared}
    assert {name: python_name(flag) for name, flag in flags.items()} == {name: name for name in flags}
    assert len(flags) > 30
