"""The settings of a place: options that commands take from environment variables.

Also what commands say about them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetab.cli.messages import note, quietly, show_findings
from safetab.foundation.argument_types import meant
from safetab.foundation.findings import FindingsOf
from safetab.runs.declared_options import DEFAULTS, SETTINGS

_OF_THE_ENVIRONMENT = "ENVIRONMENT"
_ACCOUNTS = ("dataset", "spend_log")


def flag_of(name: str) -> str:
    """The option of the command line with this name."""
    return f"--{name.replace('_', '-')}"


def settings_in_force() -> dict[str, dict[str, object]]:
    """Each setting that a run would have here, with its value and its source.

    The source is an environment variable or `default`.
    """
    found = dict[str, dict[str, object]]()
    for name, variable in SETTINGS.items():
        given = os.environ.get(variable)
        found[flag_of(name)] = {
            "value": given or DEFAULTS[name],
            "from": variable if given else "default",
        }
    return found


def apply_settings(context: Any) -> None:
    """Say which options of a command come from the environment.

    Warns of variables that name no setting. The environment makes no run on synthetic people keep
    accounts: its numbers cost nobody anything.
    """
    if "parameters" in context.params:
        _warn_of_unknown_settings()
    taken = _taken(context)
    left_out = _accounts_left_out(context.params, taken)
    for name in left_out:
        context.params[name] = None
    with quietly(is_quiet=context.params.get("quiet", False)):
        for name in taken:
            word = (
                "is left out, since the people are synthetic"
                if name in left_out
                else f"sets {flag_of(name)}"
            )
            note(f"{SETTINGS[name]} {word}.", err=True)


def _warn_of_unknown_settings() -> None:
    """Warn of each variable that is spelled like a setting, but names no setting."""
    findings = FindingsOf("the environment")
    known = SETTINGS.values()
    for variable in sorted(os.environ):
        if variable.startswith("SAFETAB_") and variable not in known:
            findings.warning(variable, f"is not a setting.{meant(variable, known)}")
    show_findings(findings.findings)


def _taken(context: Any) -> list[str]:
    """The settings that the environment gave to this command."""
    sources = {
        name: context.get_parameter_source(name) for name in SETTINGS if name in context.params
    }
    return [
        name
        for name, source in sources.items()
        if source is not None and source.name == _OF_THE_ENVIRONMENT
    ]


def _accounts_left_out(given: Mapping[str, Any], taken: list[str]) -> list[str]:
    """The accounts of the environment, for synthetic people.

    Empty if the people are real, or if the command line asks for accounts.
    """
    accounts = [name for name in _ACCOUNTS if given.get(name) is not None]
    is_asked = not {*accounts} <= {*taken}
    if not accounts or is_asked or given.get("persons") is not None:
        return []
    from safetab.inputs.own_records import is_synthetic  # noqa: PLC0415 - help is quick

    return accounts if is_synthetic(Path(given["data"])) else []
