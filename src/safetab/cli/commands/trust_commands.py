"""The commands that tell whether program and releases can be trusted.

They are audit (once selftest), sign and verify.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safetab.cli.json_document import answer
from safetab.cli.messages import exits_with_code, say
from safetab.cli.options import Quiet, Release, option, path_argument
from safetab.foundation.failures import NOTHING_WRITTEN, RunFailed
from safetab.foundation.findings import require_none
from safetab.foundation.interrupts import if_interrupted, publishing_for_itself

if TYPE_CHECKING:
    from safetab.apps.audit.verdicts import AuditPart

_QUICK = "The same kinds of checks with less work: about a minute instead of seven."
_NOISE_ALONE = (
    "Check only, in seconds, that the noise of this installation has the right distribution."
)
_REVIEW = "Write an HTML page for reviewers: each claim, the evidence, and what it would find."


def selftest() -> None:
    """Check in seconds that this installation's noise has the right distribution.

    Draws a million numbers of each of five kinds and compares them with
    exact probabilities; correct noise fails once in a million times.
    """
    from safetab.apps.audit.selftest import selftest as judged

    with exits_with_code():
        verdicts = judged()
        checks = [
            {"check": one.name, "is_right": one.is_right, "p_value": one.p_value}
            for one in verdicts
        ]
        answer({"checks": checks})
        for verdict in verdicts:
            say(
                f"{verdict.name}: {'right' if verdict.is_right else 'WRONG'} "
                f"(p-value {verdict.p_value:.3g})"
            )
        if not all(verdict.is_right for verdict in verdicts):
            raise RunFailed("the noise of this installation is not right. Do not use it.")
    say("The noise of this installation is right.")


def audit(
    quick: Annotated[bool, typer.Option("--quick", help=_QUICK)] = False,
    page: Annotated[Path | None, typer.Option(help=_REVIEW)] = None,
    noise_alone: Annotated[bool, typer.Option("--selftest", help=_NOISE_ALONE)] = False,
    quiet: Quiet = False,
) -> None:
    """Try to break the program's own privacy claims.

    Runs the program on pairs of small censuses that differ in one record,
    compares what is measured and every file that is published, checks noise
    and keys, and estimates the actual loss from many runs. Needs no data;
    prints the steps and their times first. A check with too little data to
    find a fault counts as "not shown", not as passed.
    """
    from safetab.apps.audit.audit import audit as verdicts
    from safetab.apps.audit.audit import parts_of_audit
    from safetab.apps.audit.page import review_page
    from safetab.apps.audit.verdicts import AuditReport, CheckResult, report_as_json
    from safetab.cli.progress import TerminalProgress
    from safetab.foundation.new_files import new_file_findings, write_new_file

    if noise_alone:
        if quick or page is not None:
            raise typer.BadParameter(
                "can't be combined with --quick or --page.", param_hint="--selftest"
            )
        selftest()
        return
    found = []
    outcome = NOTHING_WRITTEN if page is not None else ""
    with exits_with_code(), if_interrupted(outcome), publishing_for_itself():
        require_none(() if page is None else new_file_findings(page))
        parts = parts_of_audit(is_quick=quick)
        if not quiet:
            _show_steps(parts)
        with TerminalProgress(is_quiet=quiet) as progress:
            for part, verdict in verdicts(parts, progress):
                found.append((part, verdict))
                word = "FAILED" if verdict.faults else verdict.result.value
                lines = [
                    f"{word}  {verdict.check}: {verdict.seen}",
                    *(f"        {fault}" for fault in verdict.faults),
                ]
                for line in lines:
                    progress.print(line)
        report = AuditReport(tuple(found), quick, datetime.datetime.now(datetime.UTC).date())
        answer(report_as_json(report))
        if page is not None:
            text = review_page(report)
            write_new_file(page, lambda path: path.write_text(text, encoding="utf-8"))
        say(report.counts)
        if report.count(CheckResult.FAILED):
            raise RunFailed(report.conclusion)
    say(report.conclusion)


def _show_steps(parts: Sequence[AuditPart]) -> None:
    """Print the steps of an audit and how long each takes."""
    for part in parts:
        say(f"{part.what}: about {_counted(part.cpu_seconds, 'CPU second')}")
    minutes = -(-sum(part.cpu_seconds for part in parts) // 60)
    say(f"In all, about {_counted(minutes, 'minute')} on one core.")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


_KEY = "Your private key: `safetab sign --new-key FILE` makes one."
_NEW_KEY = (
    "Make a key instead: FILE, which only you may read, and FILE.pub, which everybody may have."
)
_SIGN_ANYWAY = "Sign an output that is not for release. The signature says so."
_AS_MADE = "If the site was made with it:"
_PUBLIC_KEY = "The signer's public key. Without it, the signature may be anybody's."
_OUT = Annotated[
    Path | None, path_argument("OUT", "OUT of a run, OUT/release, or a release of official files.")
]


def sign(
    out: _OUT = None,
    key: Annotated[Path | None, option("FILE", _KEY)] = None,
    new_key: Annotated[Path | None, option("FILE", _NEW_KEY)] = None,
    not_for_release: Annotated[bool, typer.Option("--not-for-release", help=_SIGN_ANYWAY)] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier signature.")
    ] = False,
) -> None:
    """Sign a release, so that readers can tell where it comes from.

    Checks the release as `safetab verify` does, then writes SIGNATURE.json,
    which says what is signed and with which status, and SIGNATURE.sig, its
    Ed25519 signature, into the release. Readers check it with `safetab
    verify OUT --key FILE.pub`, or with openssl.
    """
    from safetab.core.privacy.output_status import status_as_json
    from safetab.release.files.checks.signatures import write_new_key
    from safetab.release.files.checks.verification import sign_release

    if (out is None) != (key is None) or (out is None) == (new_key is None):
        raise typer.BadParameter(
            "give OUT and --key FILE, or --new-key FILE alone.", param_hint="sign"
        )
    with exits_with_code():
        if out is not None and key is not None:
            signature = sign_release(out, key, not_for_release=not_for_release, overwrite=overwrite)
            say(f"{signature}. {signature.status.line}")
            answer({"fingerprint": signature.fingerprint, **status_as_json(signature.status)})
        elif new_key is not None:
            written = [f"{new_key}.pub"]
            words = (
                f"Wrote {new_key}.pub, which was missing, and which you publish with its"
                " fingerprint:"
            )
            if not new_key.exists():
                written.insert(0, str(new_key))
                words = (
                    f"Wrote {new_key}, which you keep secret, and {new_key}.pub,"
                    " which you publish with its"
                )
                words += " fingerprint:"
            fingerprint = write_new_key(new_key)
            say(words)
            say(fingerprint)
            answer({"fingerprint": fingerprint, "written": written})


def verify(
    path: Annotated[
        Path,
        path_argument(
            "RELEASE", "A release: OUT of a run, or OUT/release; or a site or an export."
        ),
    ],
    of: Annotated[
        Path | None, path_argument("OF", "The release that the site or the export was made of.")
    ] = None,
    key: Annotated[Path | None, option("FILE.pub", _PUBLIC_KEY)] = None,
    boundaries: Annotated[Path | None, option("FILE", f"{_AS_MADE} the shapes of areas.")] = None,
    earlier: Annotated[Path | None, option("OUT2", f"{_AS_MADE} an earlier release.")] = None,
    linked: Annotated[
        tuple[Path, str] | None, option("OUT2 FOLDER2", f"{_AS_MADE} a link to another site.")
    ] = None,
) -> None:
    """Check that a release is whole, consistent and signed.

    Compares every file with its checksum, and computes again whatever needs
    no secret: sums, margins of error, intervals, which table a group gets,
    what is suppressed, the stated loss; with the whole OUT, every number
    from the measurements. A site or an export is made again from its
    release, OF, and compared byte by byte. Lists everything that is wrong,
    and ends with 1.
    """
    from safetab.apps.website.linked_site import LinkedSite
    from safetab.apps.website.made_again import SiteInputs, verify_made

    with exits_with_code():
        other = None if linked is None else LinkedSite(*linked)
        found = verify_made(path, of, key, SiteInputs(boundaries, earlier, other))
        require_none(found.findings)
    answer(found.as_json())
    again = " and with the measurements" if found.has_measurements else ""
    say(f"Nothing is wrong. All {found.numbers:,} numbers agree with the plan{again}.")
    if of is not None:
        say(f"Every file of {path} is what {of} gives.")
    say(f"{found.signature}." if found.signature else "Not signed.")
    if found.signature is not None and key is None:
        say(
            "Compare the fingerprint with the one that the publisher names, or give the key:"
            " --key FILE.pub."
        )
    say(found.status.line if found.status else "")


def registry(
    release: Release,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a file instead.")
    ] = None,
) -> None:
    """Print the entry of a release for the public registry of deployments.

    YAML by the registry's schema: the loss, the unit of privacy, the
    mechanism and whatever else the release tells. Where it says ADD:, a
    person must add what no release tells.
    """
    from safetab.foundation.new_files import write_new_file
    from safetab.release.report.registry import registry_entry

    with exits_with_code():
        entry = registry_entry(release)
        if output is not None:
            write_new_file(output, lambda path: path.write_text(entry, encoding="utf-8"))
            answer({"written": [str(output)]})
        answer({"entry": entry, "to_add": entry.count("ADD:")})
        if output is None:
            typer.echo(entry, nl=False)
            return
    say(f"Wrote {output}: {entry.count('ADD:')} places say ADD:, for you to fill in.")
