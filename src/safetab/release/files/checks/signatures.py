"""Ed25519 signatures of releases, and key files that openssl reads too.

SIGNATURE.json says what is signed, and SIGNATURE.sig has the 64 bytes of the signature of exactly
this file. A key that signs has nothing to do with noise.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization as pem
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from safetab.core.privacy.output_status import (
    CONTRADICTION,
    OutputStatus,
    status_as_json,
    status_of_json,
)
from safetab.foundation.files import UnreadableFile, read_bytes, sha256_of
from safetab.foundation.findings import FORMAT, FindingsOf, InvalidInput
from safetab.foundation.locked_folder import clear_abandoned
from safetab.foundation.new_files import SIGNATURE_FILES, CantBeDone, write_new_files
from safetab.release.files.checksums import CHECKSUMS_FILE, is_regular_file
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.outputs.manifest import MANIFEST_FILE
from safetab.release.outputs.output_folder import change_in_one_step

_STATEMENT_FILE, _SIGNATURE_FILE = SIGNATURE_FILES
_SIGNATURE_FORMAT = 1
_PUBLIC = (pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo)
_OTHERS_MAY_READ = 0o077
_NO_KEY = (
    "is not an Ed25519 {} key in PEM without a passphrase."
    " `safetab sign --new-key FILE` makes FILE and FILE.pub."
)


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature that fits its statement: who signed what, when."""

    fingerprint: str
    date: str
    status: OutputStatus
    covers_output: bool
    """Whether it covers the whole output of a run, and not its release alone."""
    key_was_given: bool
    """Whether the reader gave the key.

    If not, it comes from the statement, and may be anybody's.
    """

    def __str__(self) -> str:
        whose = "the given key" if self.key_was_given else "a key that was not checked"
        what = "the whole output" if self.covers_output else "the release"
        return f"Signed on {self.date}, {what}, with {whose}: {self.fingerprint}"


def write_new_key(file: Path) -> str:
    """Write a new key into FILE and FILE.pub; return its fingerprint.

    Only its owner may read FILE. Of a key without FILE.pub, as a kill may leave it, FILE.pub alone
    is written.
    """
    clear_abandoned(file.parent, f".{file.name}.partial-")  # which may hold a key
    public = file.with_name(f"{file.name}.pub")
    if not public.exists() and (kept := _kept_key(file)) is not None:
        write_new_files({public: partial(_write, kept.public_key().public_bytes(*_PUBLIC), 0o644)})
        return _fingerprint_of(kept.public_key())
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.NoEncryption())
    of_public = partial(_write, key.public_key().public_bytes(*_PUBLIC), 0o644)
    write_new_files({file: partial(_write, private, 0o600), public: of_public})
    return _fingerprint_of(key.public_key())


def _write(content: bytes, mode: int, path: Path) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def _kept_key(file: Path) -> Ed25519PrivateKey | None:
    """The key in a file, or None if it holds none that signs."""
    with suppress(InvalidInput):
        return read_private_key(file)
    return None


def read_private_key(file: Path) -> Ed25519PrivateKey:
    """The key in a file that only its owner may read. Raises InvalidInput."""
    content = _content(file)
    if b"PUBLIC KEY-----" in content:
        raise InvalidInput.about(
            file, "is a public key. Sign with the private one, and let readers verify with this."
        )
    if os.name == "posix" and file.stat().st_mode & _OTHERS_MAY_READ:
        raise InvalidInput.about(
            file, f"others may read this key. Run chmod 600 {file.name}, or make a new key."
        )
    try:
        key = pem.load_pem_private_key(content, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidInput.about(file, _NO_KEY.format("private"))
    return key


def read_public_key(file: Path) -> Ed25519PublicKey:
    """The key in a .pub file. Raises InvalidInput."""
    content = _content(file)
    if b"PRIVATE KEY-----" in content:
        raise InvalidInput.about(
            file, "is a private key. Readers verify with its .pub file; keep this one secret."
        )
    try:
        return _public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidInput.about(file, _NO_KEY.format("public")) from None


def _content(file: Path) -> bytes:
    try:
        return read_bytes(file)
    except UnreadableFile as unreadable:
        raise InvalidInput.about(file, str(unreadable)) from None


def _public_key(content: bytes) -> Ed25519PublicKey:
    key = pem.load_pem_public_key(content)
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("no Ed25519 key")
    return key


def _fingerprint_of(key: Ed25519PublicKey) -> str:
    """SHA-256 of the key's SubjectPublicKeyInfo in DER."""
    der = key.public_bytes(pem.Encoding.DER, pem.PublicFormat.SubjectPublicKeyInfo)
    return f"sha256:{hashlib.sha256(der).hexdigest()}"


def write_signature(
    folder: ReleaseFolder, output: Path | None, key: Ed25519PrivateKey, *, overwrite: bool
) -> None:
    """Sign a release, and with it the whole output of its run if it is there.

    Both files appear in one step. Where the system has none, a kill between two renames can leave
    half a signature, which `verify` reports and signing again replaces.
    """
    today, public = datetime.datetime.now(datetime.UTC).date(), key.public_key()
    statement = {
        FORMAT: _SIGNATURE_FORMAT,
        "product": folder.universe.product.name,
        **status_as_json(folder.facts.status),
        "release_date": folder.facts.date.isoformat(),
        "signed_on": today.isoformat(),
        "sha256": {name: sha256_of(path) for name, path in _signed(folder.path, output).items()},
        "algorithm": "Ed25519",
        "fingerprint": _fingerprint_of(public),
        "public_key": public.public_bytes(*_PUBLIC).decode(),
    }
    content = (json.dumps(statement, indent=2) + "\n").encode()
    parts = dict(zip(SIGNATURE_FILES, (content, key.sign(content)), strict=True))

    def sign(release: Path) -> None:
        for name, part in parts.items():
            (release / name).unlink(missing_ok=True)
            _write(part, 0o644, release / name)

    try:
        change_in_one_step(folder.path, sign)
    except CantBeDone:
        writers = {folder.path / name: partial(_write, part, 0o644) for name, part in parts.items()}
        write_new_files(writers, overwrite=overwrite)


def _signed(release: Path, output: Path | None) -> dict[str, Path]:
    """The signed files: the release's checksums, and the manifest with those of the output."""
    of_output = {} if output is None else {MANIFEST_FILE: output / MANIFEST_FILE}
    return {CHECKSUMS_FILE: release / CHECKSUMS_FILE, **of_output}


def checked_signature(
    release: Path,
    output: Path | None,
    key: Ed25519PublicKey | None,
    status: OutputStatus | None,
    findings: FindingsOf,
) -> Signature | None:
    """The signature of a release, if there is a right one.

    Whatever is wrong with it is added to the findings.
    """
    missing = [name for name in SIGNATURE_FILES if not os.path.lexists(release / name)]
    strange = [
        name
        for name in SIGNATURE_FILES
        if name not in missing and not is_regular_file(release / name)
    ]
    for name in strange:
        findings.error(name, "is a link, or not a regular file.")
    if missing or strange:
        if len(missing) == 1 and not strange:
            findings.error(missing[0], "is missing, but the other file of the signature exists.")
        elif missing and key is not None:
            findings.error("", "is not signed, and a key was given.")
        return None
    content, made = (_content(release / name) for name in SIGNATURE_FILES)
    try:
        statement = json.loads(content)
        if statement[FORMAT] != _SIGNATURE_FORMAT:
            findings.error(
                _STATEMENT_FILE,
                f"has format {statement[FORMAT]}; this version reads {_SIGNATURE_FORMAT}.",
            )
            return None
        stated = _public_key(statement["public_key"].encode())
        wrong = {
            **_wrong_key(content, made, key or stated, stated),
            **_wrong_files(release, output, statement, status),
        }
        if statement["fingerprint"] != _fingerprint_of(stated):
            raise ValueError("fingerprint")
        signature = Signature(
            _fingerprint_of(stated),
            datetime.date.fromisoformat(statement["signed_on"]).isoformat(),
            status_of_json(statement),
            output is not None and MANIFEST_FILE in statement["sha256"], key is not None,
        )  # fmt: skip
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        UnsupportedAlgorithm,
    ) as error:
        why = (
            CONTRADICTION if str(error) == CONTRADICTION else "is not the statement of a signature."
        )
        wrong, signature = {_STATEMENT_FILE: why}, None
    for name, message in wrong.items():
        findings.error(name, message)
    return None if wrong else signature


def _wrong_key(
    content: bytes, made: bytes, key: Ed25519PublicKey, stated: Ed25519PublicKey
) -> dict[str, str]:
    """The reason why the key didn't sign the bytes of the statement, which states its key."""
    if key != stated:
        keys = f"{_fingerprint_of(stated)}; the key given is {_fingerprint_of(key)}"
        return {_SIGNATURE_FILE: f"was made with another key, {keys}."}
    try:
        key.verify(made, content)
    except InvalidSignature:
        return {
            _SIGNATURE_FILE: f"is not the signature of {_STATEMENT_FILE}:"
            " one of them was changed or forged."
        }
    return {}


def _wrong_files(
    release: Path, output: Path | None, statement: Mapping[str, Any], status: OutputStatus | None
) -> dict[str, str]:
    """The files that are not those of the statement, and whether the status is another one."""
    hashes, wrong = statement["sha256"], {}
    for name, path in _signed(release, output).items():
        is_covered = name in hashes or name == CHECKSUMS_FILE
        if is_covered and not (path.is_file() and sha256_of(path) == hashes.get(name)):
            wrong[name] = "is not the file that was signed."
    stated = status_of_json(statement)
    if status not in (stated, None):
        wrong[_STATEMENT_FILE] = f'says "{stated.value}", and the release says "{status.value}".'
    return wrong
