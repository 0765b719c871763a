"""Uses of a release: its pages and files, its signature, and its entry in the registry.

Also a release made of published tables.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from safetab.apps.bureau.official import OfficialRequest, read_official_release
from safetab.apps.website.linked_site import LinkedSite
from safetab.apps.website.made_again import SiteInputs, verify_made
from safetab.apps.website.write_site import SiteSummary, write_site
from safetab.foundation.argument_types import path_or_none, python_function
from safetab.foundation.files import whole_path
from safetab.release.files.checks.signatures import write_new_key
from safetab.release.files.checks.verification import Verification, sign_release
from safetab.release.files.official.write_official import OfficialSummary
from safetab.release.report.registry import registry_entry


@python_function
def site(
    path: str | Path,
    folder: str | Path,
    *,
    boundaries: str | Path | None = None,
    earlier: str | Path | None = None,
    linked: tuple[str | Path, str] | None = None,
    overwrite: bool = False,
) -> SiteSummary:
    """Write a release as a web site that everybody can read.

    The command `safetab site` does the same. Returns what was written. Raises
    `safetab.InvalidInput` if there is no release or a file is at fault.

    Args:
        path: OUT of a run, or OUT/release.
        folder: The directory to make; open its index.html in a browser.
        boundaries: GeoJSON with the shapes of areas, for maps.
        earlier: An earlier release of the same design, to say what has changed since.
        linked: The release of another product of the same census, and its site's folder or address.
        overwrite: Replace `folder` if it is a site.
    """
    shapes, before = path_or_none(boundaries), path_or_none(earlier)
    other = _linked_site(linked)
    return write_site(
        Path(path), whole_path(Path(folder)), shapes, before, linked=other, overwrite=overwrite
    )


def _linked_site(linked: tuple[str | Path, str] | None) -> LinkedSite | None:
    return None if linked is None else LinkedSite(Path(linked[0]), linked[1])


@python_function
def official(  # noqa: PLR0913 - what the command takes
    files: list[str | Path],
    new: str | Path,
    *,
    parameters: str | Path,
    geography: str | Path | None = None,
    complete: bool = False,
    confidence: str | float = "0.95",
    overwrite: bool = False,
) -> OfficialSummary:
    """Read published tables into a release with exact margins of error.

    The command `safetab official` does the same. Returns what was read and left out, with the
    warnings. Raises `safetab.InvalidInput` if a file is at fault.

    Args:
        files: Published files, CSV or JSON: any tables of one product.
        new: The directory to make: a release.
        parameters: The directory with the config.json and the lists of the published tables.
        geography: The blocks, a GRF-C file: shows which areas are the same.
        complete: The files are whole tables: a number they lack was not published.
        confidence: The confidence of margins of error in the release.
        overwrite: Replace `new` if it was made by this function.
    """
    request = OfficialRequest(Path(parameters), path_or_none(geography), complete, str(confidence))
    paths = [Path(file) for file in files]
    summary, warnings = read_official_release(
        paths, whole_path(Path(new)), request, overwrite=overwrite
    )
    return replace(summary, warnings=warnings)


@python_function
def verify(
    path: str | Path,
    key: str | Path | None = None,
    *,
    of: str | Path | None = None,
    boundaries: str | Path | None = None,
    earlier: str | Path | None = None,
    linked: tuple[str | Path, str] | None = None,
) -> Verification:
    """Check that a release is whole, consistent and signed.

    The command `safetab verify` does the same. With `of`, check that a site or an export is what
    this release gives, too.

    Returns the findings, the status and the signature. Raises `safetab.InvalidInput` if there is no
    release or the key can't be read.

    Args:
        path: OUT of a run, or OUT/release; with `of`, a site or an export.
        key: The signer's public key, FILE.pub.
        of: The release that the site or the export was made of.
        boundaries: The file of shapes that the site was made with.
        earlier: The earlier release that the site was made with.
        linked: The release and the site that the site was made to link to.
    """
    inputs = SiteInputs(path_or_none(boundaries), path_or_none(earlier), _linked_site(linked))
    return verify_made(Path(path), path_or_none(of), path_or_none(key), inputs)


@python_function
def sign(
    path: str | Path, key: str | Path, *, not_for_release: bool = False, overwrite: bool = False
) -> Verification:
    """Sign a release that nothing is wrong with, as the command `safetab sign` does.

    Returns what `verify` says of it then. Raises `safetab.InvalidInput` if anything is wrong with
    the release or the key.

    Args:
        path: OUT of a run, or OUT/release.
        key: Your private key; `safetab.new_key` makes one.
        not_for_release: Sign an output that is not for release; the signature says so.
        overwrite: Replace an earlier signature.
    """
    sign_release(Path(path), Path(key), not_for_release=not_for_release, overwrite=overwrite)
    return verify(path)


@python_function
def new_key(file: str | Path) -> str:
    """Write a new key to sign releases with, and return its fingerprint.

    The command `safetab sign --new-key FILE` does the same. Keep FILE secret. Publish FILE.pub and
    the fingerprint. Raises `safetab.InvalidInput` if a file exists.

    Args:
        file: The file to write for the private key; the public one gets `.pub` at its end.
    """
    return write_new_key(Path(file))


@python_function
def registry(path: str | Path) -> str:
    """The entry of a release for the public registry of deployments.

    The command `safetab registry` prints it. Raises `safetab.InvalidInput` if there is no release.

    Args:
        path: OUT of a run, or OUT/release.
    """
    return registry_entry(Path(path))
