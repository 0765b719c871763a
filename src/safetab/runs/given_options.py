"""The declared options as types, so that a type checker finds mistakes before a run.

It finds a misspelled or mistyped option or value. A test compares each type with its options in
`declared_options`: the same names, the same types, and choices for texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypedDict

from safetab.runs.declared_options import EngineKind


class GivenSteps(TypedDict, total=False):
    """`STEPS`: what happens to numbers after they are measured."""

    coterminous: bool
    empty_blocks: Path | str | None
    order: str | None
    copy_all: bool
    rules: list[str] | None


class GivenRerelease(GivenSteps, total=False):
    """`RERELEASE`: what a re-release may choose anew."""

    confidence: str | float
    csv: bool


class _GivenMachine(TypedDict, total=False):
    memory: str
    threads: int
    temp: Path | str | None
    totals: Path | str | None


class _GivenEngine(TypedDict, total=False):
    engine: EngineKind | Literal["local", "spark"]
    confidential_log: Path | str | None
    spark_master: str | None
    spark_conf: list[str] | None
    persons: str | None
    geography: str | None


class GivenValidate(_GivenMachine, _GivenEngine, total=False):
    """`VALIDATE`: where and how the records are read."""


class GivenRun(GivenRerelease, _GivenMachine, _GivenEngine, total=False):
    """`RUN`: every option of a run."""

    overwrite: bool
    test_key: str | None
    dataset: str | None
    spend_log: Path | str | None
    spend_limit: str | float | None
    same_people_as: list[str] | None


class GivenAccuracy(GivenSteps, _GivenMachine, total=False):
    """`ASSESS`: the steps whose effect is measured, and the machine."""

    overwrite: bool
    test_key: str | None


class GivenCompare(_GivenMachine, total=False):
    """`COMPARE`: what is compared, and how often."""

    protections: list[str] | None
    preset: str
    tables: Literal["as-released", "every-group"]
    attack: list[str] | None
    runs: int
    seed: int
    time_limit: float | None
    overwrite: bool
