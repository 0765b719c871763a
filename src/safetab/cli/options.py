"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from safetab.engines.engine_kind import EngineKind

Parameters = Annotated[
    Path,
    typer.Argument(
        metavar="PARAMETERS", help="Directory with config.json and the lists of codes and iterations.", readable=False
    ),
]
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="Directory with the geography file GRF-C and the person records.", readable=False
    ),
]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="Directory to make.", readable=False)]
Engine = Annotated[EngineKind, typer.Option(help="What counts the persons.")]
Memory = Annotated[str, typer.Option(help="How much memory the database may use, e.g. 8GB.")]
Threads = Annotated[int, typer.Option(help="How many threads a run may use.", min=1)]
Temp = Annotated[
    Path | None, typer.Option(help="Where encoded persons are kept while the run lasts. Default: the system's folder.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it is there.")]
LogFile = Annotated[Path | None, typer.Option(help="The curator's log. Default: OUT.confidential.log beside OUT.")]
FindingsLog = Annotated[
    Path | None,
    typer.Option("--confidential-log", help="The curator's log: line numbers of rows that break a rule, no values."),
]
SparkMaster = Annotated[
    str | None, typer.Option(metavar="URL", help="Where Spark runs, with --engine spark. Default: local[THREADS].")
]
SparkConf = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="A setting of Spark; give it once for each.")
]
PersonsAt = Annotated[
    str | None,
    typer.Option(metavar="WHERE", help="Person records outside DATA: a path that Spark reads, or table:NAME."),
]
GeographyAt = Annotated[
    str | None, typer.Option(metavar="WHERE", help="The geography elsewhere than in DATA, in the same way.")
]
TestKey = Annotated[
    str | None, typer.Option(metavar="HEX", help="64 hexadecimal digits; only for synthetic data, never for a release.")
]
Dataset = Annotated[
    str | None, typer.Option(metavar="NAME", help="Whose privacy is spent: a name for these people, in --spend-log.")
]
SpendLog = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The curator's accounts of what all runs on --dataset spent.")
]
SpendLimit = Annotated[
    str | None,
    typer.Option(
        metavar="X", help="How much each pass of --dataset may lose in all runs: set by the first, kept by every run."
    ),
]
SamePeopleAs = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Another name of these people in --spend-log: adds up the accounts of both."),
]
Release = Annotated[
    Path, typer.Argument(metavar="RELEASE", help="A release: OUT of a run, or OUT/release.", readable=False)
]
Coterminous = Annotated[
    bool,
    typer.Option(
        "--coterminous", help="Give entities that are made of the same blocks the same numbers, in the release."
    ),
]
EmptyBlocks = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Blocks that hold nobody, e.g. water: ignored when blocks are compared."),
]
Order = Annotated[str | None, typer.Option(metavar="KINDS", help="Who gives first: state,county,place,aiannh,tract.")]
CopyAll = Annotated[
    bool, typer.Option("--copy-all", help="Copy groups too that the receiving level does not tabulate.")
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="RULE",
        help="A rule of the release, repeatable: clamp-negatives, withhold-negatives, withhold-alone-above-partner.",
    ),
]
Area = Annotated[str | None, typer.Option(metavar="NAME", help="Name, part of a name, or id.")]
Confidence = Annotated[str, typer.Option(metavar="LEVEL", help="Of the margins of error in the release.")]
