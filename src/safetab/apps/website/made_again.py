"""Whether a site or an export is what its release gives.

It is made again, and compared byte by byte.
"""

from __future__ import annotations

import filecmp
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from safetab.apps.website.linked_site import LinkedSite
from safetab.apps.website.write_site import FACTS_FILE, write_site
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.foundation.locked_folder import scratch_folder
from safetab.release.files.allowed_files import not_files
from safetab.release.files.census_form import COLUMNS_FILE
from safetab.release.files.checks.recomputed_numbers import SCRATCH
from safetab.release.files.checks.verification import Verification, verify_release
from safetab.release.files.export import ExportForm, export_csv
from safetab.release.files.made_of import MADE_BY, MADE_OF_FILE, THIS_PROGRAM
from safetab.release.files.release_folder import EXPORTED_ENTITIES


@dataclass(frozen=True, slots=True)
class SiteInputs:
    """The inputs of a site besides its release."""

    boundaries: Path | None = None
    earlier: Path | None = None
    linked: LinkedSite | None = None


_NO_INPUTS = SiteInputs()


def verify_made(
    path: Path, of: Path | None = None, key: Path | None = None, inputs: SiteInputs = _NO_INPUTS
) -> Verification:
    """Everything that is wrong with a release, or with a site or an export and its release.

    Raises InvalidInput if there is no such thing, or if the key can't be read.
    """
    if of is None:
        if inputs != _NO_INPUTS:
            message = (
                "boundaries, an earlier release and a linked site belong to a site:"
                " give its OUT too."
            )
            raise InvalidInput.about(path, message)
        return verify_release(path, key)
    make = _maker(path, of, inputs)
    found = verify_release(of, key)
    if not found.is_valid:
        return found
    findings = FindingsOf(str(path))
    for name in not_files(path):
        findings.error(name, "is a link, or not a regular file.")
    if not findings.has_errors:
        _compare(path, make, findings)
    return replace(found, path=path, findings=findings.findings)


def _maker(path: Path, of: Path, inputs: SiteInputs) -> Callable[[Path], object]:
    """The function that makes a folder like this one."""
    if (path / FACTS_FILE).is_file():
        linked = None if inputs.linked is None else replace(inputs.linked, seen_from=path)
        return lambda folder: write_site(
            of, folder, inputs.boundaries, inputs.earlier, linked=linked
        )
    forms = {EXPORTED_ENTITIES: ExportForm.TIDY, COLUMNS_FILE: ExportForm.CENSUS}
    for name, form in forms.items():
        if (path / name).is_file():
            return lambda folder: export_csv(of, folder, form)
    raise InvalidInput.about(
        path, "is no site and no export. Give what `safetab site` or `safetab export` made."
    )


def _compare(path: Path, make: Callable[[Path], object], findings: FindingsOf) -> None:
    """Add every file that is not the one that is made."""
    made_by = _made_by(path)
    if made_by != THIS_PROGRAM:
        says = "does not say which version made this." if made_by is None else f'says "{made_by}".'
        findings.error(
            MADE_OF_FILE,
            f"{says} It can be compared only by the version that made it; make it again.",
        )
        return
    with scratch_folder(SCRATCH) as scratch:
        again = scratch / "again"
        make(again)
        here, there = (_names_in(folder) for folder in (path, again))
        _, differ, unread = filecmp.cmpfiles(path, again, here & there, shallow=False)
    wrong = dict.fromkeys((*differ, *unread), "is not what the release gives.")
    if FACTS_FILE in wrong:
        wrong[FACTS_FILE] += (
            " Give what else the site was made with: --linked, --boundaries, --earlier."
        )
    wrong |= dict.fromkeys(there - here, "is missing.")
    wrong |= dict.fromkeys(here - there, "is not among the files that the release gives.")
    for name in sorted(wrong):
        findings.error(name, wrong[name])


def _made_by(path: Path) -> str | None:
    """The program that made a folder, as it says."""
    try:
        return str(json.loads((path / MADE_OF_FILE).read_text(encoding="utf-8"))[MADE_BY])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise_if_the_machine_failed(error)
        return None


def _names_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
