"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
Memory = Annotated[str, typer.Option(help="How much memory the database may use, e.g. 8GB.")]
Threads = Annotated[int, typer.Option(help="How many threads a run may use.", min=1)]
Temp = Annotated[
    Path | None, typer.Option(help="Where encoded persons are kept while the run lasts. Default: the system's folder.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it is there.")]
TestKey = Annotated[
    str | None, typer.Option(metavar="HEX", help="64 hexadecimal digits; only for synthetic data, never for a release.")
]
