"""The command `spend`: the accounts of a spend log, and the one way to change a limit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Unit = Literal["rho", "epsilon"]


def spend(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="The spend log of the runs.", readable=False)],
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="Only the accounts of this data set.")] = None,
    set_limit: Annotated[
        str | None, typer.Option(metavar="X", help="Change how much each pass of --dataset may lose in all.")
    ] = None,
    unit: Annotated[Unit | None, typer.Option(help="Unit of --set-limit. Default: that of the limit or runs.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the accounts as JSON, for programs.")] = False,
) -> None:
    """Show what all runs spent on each data set, its limit, and what is left.

    With --set-limit, the limit of --dataset is set or changed first. Every
    later run keeps to it, also one that gives no limit. What is shown is
    confidential like the log.
    """
    from safetab.cli.accounts import accounts_as_json, change_limit, read_accounts, show_accounts
    from safetab.cli.messages import exits_with_code
    from safetab.foundation.failures import RunFailed, why_refused
    from safetab.foundation.whole_path import whole_path

    with exits_with_code():
        try:
            if set_limit is not None or unit is not None:
                change_limit(whole_path(log), dataset, set_limit, unit)
            accounts = read_accounts(whole_path(log), dataset)
        except OSError as error:
            raise RunFailed(why_refused(error)) from None
    if as_json:
        import json

        typer.echo(json.dumps(accounts_as_json(accounts), indent=2))
    else:
        show_accounts(accounts)
