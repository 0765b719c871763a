"""What goes wrong in Python is said in Python's words: arguments by their names, and calls for commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import safetab
from safetab.foundation.argument_types import python_name, python_words
from safetab.pipeline import declared_options
from safetab.pipeline.declared_options import DeclaredOption

P, D, OUT = "parameters", "data", "out"
MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "a limit without a log": (lambda: safetab.run(P, D, OUT, spend_limit=4), "spend_limit: needs `spend_log` and `dataset`"),
    "a log without people": (lambda: safetab.run(P, D, OUT, spend_log="log"), "spend_log: needs `dataset`"),
    "another name without a log": (lambda: safetab.run(P, D, OUT, same_people_as=["a"]), "same_people_as: needs"),
    "a short key": (lambda: safetab.run(P, D, OUT, test_key="00"), "test_key: must be 64 hexadecimal digits."),
    "an engine that there is not": (lambda: safetab.run(P, D, OUT, engine="abacus"), "engine: must be one of local"),
    "settings of another engine": (lambda: safetab.run(P, D, OUT, persons="x"), "`persons` needs `engine='spark'`"),
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
def test_a_mistake_is_answered_with_names_of_python(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, words = MISTAKES[mistake]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(safetab.InvalidInput) as refused:
        call()
    assert words in str(refused.value)
    assert "--" not in str(refused.value)
    assert "the command" not in str(refused.value)


def test_tuning_speaks_of_arguments_too(tmp_path: Path) -> None:
    (tmp_path / "census.toml").write_text("census = 1\n")
    findings = safetab.tuning.tuning_of("config.json", tmp_path).findings
    assert (findings[0].file, findings[0].where) == ("tuning_of()", "config")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("Add --same-people-as NAME: or", "Add `same_people_as=NAME`: or"),
        ("Leave out --households or the CEF.", "Leave out `households` or the CEF."),
        ("Change it: `safetab spend 'my log' --dataset p --set-limit X`", "Change it: `safetab.spend('my log', dataset='p', set_limit=X)`"),
        ("`safetab new census`", "`safetab.new('census')`"),
        ("`safetab validate --confidential-log FILE ...`", "`safetab.validate(confidential_log=FILE, ...)`"),
        ("`safetab synthesize f --us --overwrite`", "`safetab.synthesize('f', us=True, overwrite=True)`"),
        ("out/my--folder and 5--7 stay", "out/my--folder and 5--7 stay"),
    ],
)  # fmt: skip
def test_commands_and_options_become_calls_and_arguments(typed: str, said: str) -> None:
    assert python_words(typed) == said


def test_every_declared_option_has_the_name_that_messages_give_it() -> None:
    declared = [each for each in vars(declared_options).values() if isinstance(each, DeclaredOption)]
    several = [each for each in vars(declared_options).values() if isinstance(each, tuple)]
    declared += [option for each in several for option in each if isinstance(option, DeclaredOption)]
    flags = {option.name: option.flag or f"--{option.name.replace('_', '-')}" for option in declared}
    assert {name: python_name(flag) for name, flag in flags.items()} == {name: name for name in flags}
    assert len(flags) > 30
