"""`safetab verify SITE OUT` makes a site or an export again from its release, and compares every byte."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import safetab
from tests.commands import cli
from tests.inside import check_files, exits_with_code, made_again_module, sha256_of, write_checksums
from tests.stored_formats import PERSONS as WORLD
from tests.stored_formats import STORED

PERSONS, HOUSEHOLDS = STORED / "format-1" / "persons", STORED / "format-1" / "households"


def found_in(path: Path, of: Path, **given: object) -> list[str]:
    return [f"{one.where}: {one.message}" for one in safetab.verify(path, of=of, **given).findings]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed output, with its key beside it."""
    folder = tmp_path_factory.mktemp("signed")
    out = Path(shutil.copytree(PERSONS, folder / "out"))
    safetab.new_key(folder / "agency")
    safetab.sign(out, folder / "agency", not_for_release=True)
    safetab.site(out, folder / "site")
    safetab.export(out, folder / "tidy")
    safetab.export(out, folder / "census", form="census")
    return out


@pytest.fixture
def site(signed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(signed.parent / "site", tmp_path / "site"))


@pytest.mark.parametrize("name", ["site", "tidy", "census"])
def test_what_is_made_of_a_signed_release_names_its_checksum_and_is_found_right(name, signed):
    made = signed.parent / name
    check_files(made)  # as `sha256sum -c SHA256SUMS` does
    stated = json.loads((made / "MADE-OF.json").read_text())
    covered = json.loads((signed / "release" / "SIGNATURE.json").read_text())["sha256"]["SHA256SUMS"]
    assert stated["release"]["sha256"]["SHA256SUMS"] == covered == sha256_of(signed / "release" / "SHA256SUMS")
    key = ["--key", str(signed.parent / "agency.pub")]
    said = cli("verify", made, signed, *key)
    assert said.exit_code == 0, said.output
    assert f"Every file of {made} is what {signed} gives." in said.stdout.replace("\n  ", " ").replace("\n", " ")
    assert "with the given key" in said.stdout


def changed_numbers(site: Path) -> None:
    file = max((site / "data" / "areas").rglob("*.js"), key=lambda path: path.stat().st_size)
    text = file.read_text()
    digit = next(at for at, letter in enumerate(text) if letter in "12345678" and at > len(text) // 2)
    file.write_text(text[:digit] + "9" + text[digit + 1 :])


def assert_the_command_fails(made: Path, of: Path) -> None:
    """Text and --json end with 1, as scripts that ask for the exit code need."""
    said = cli("verify", made, of)
    assert said.exit_code == 1, said.output
    document = cli("verify", made, of, "--json")
    stated = json.loads(document.stdout)
    assert (document.exit_code, stated["exit_code"]) == (1, 1)
    assert any(each["severity"] == "error" for each in stated["findings"])


FORGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a number": (changed_numbers, ".js: is not what the release gives."),
    "the page": (lambda site: (site / "index.html").write_text("<script>"), "index.html: is not what the release gives."),
    "a file less": (lambda site: (site / "site.css").unlink(), "site.css: is missing."),
    "a file more": (lambda site: (site / ".records").write_text("x"), ".records: is not among the files that the release"),
    "the checksum of the release": (
        lambda site: (site / "MADE-OF.json").write_text(
            (site / "MADE-OF.json").read_text().replace("SHA256SUMS\": \"", "SHA256SUMS\": \"0")
        ),
        "MADE-OF.json: is not what the release gives.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_whatever_is_changed_in_a_site_is_found_though_its_checksums_are_right(name, site, signed):
    damage, words = FORGED[name]
    damage(site)
    write_checksums(site)
    check_files(site)
    found = found_in(site, signed)
    assert any(words in one for one in found)
    assert {one.partition(":")[0] for one in found if words not in one} <= {"SHA256SUMS"}
    assert_the_command_fails(site, signed)


@pytest.mark.parametrize("form", ["tidy", "census"])
def test_a_changed_table_of_an_export_is_found(form, signed, tmp_path):
    made = Path(shutil.copytree(signed.parent / form, tmp_path / form))
    table = min(path for path in made.rglob("*.csv") if ",1" in path.read_text())
    table.write_text(table.read_text().replace(",1", ",2", 1))
    write_checksums(made)
    assert found_in(made, signed) == [
        "SHA256SUMS: is not what the release gives.",
        f"{table.relative_to(made).as_posix()}: is not what the release gives.",
    ]
    assert_the_command_fails(made, signed)


def test_ctrl_c_stops_the_check_after_the_copy_was_made(site, signed, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(made_again_module.filecmp, "cmpfiles", interrupted)
    with exits_with_code(), pytest.raises(KeyboardInterrupt):
        made_again_module.verify_made(site, signed)


def test_a_link_is_never_followed(site, signed):
    (site / "site.css").unlink()
    (site / "site.css").symlink_to("index.html")
    assert found_in(site, signed) == ["site.css: is a link, or not a regular file."]


def test_a_site_of_another_version_or_of_none_is_to_be_made_again(site, signed):
    made_of = site / "MADE-OF.json"
    made_of.write_text(made_of.read_text().replace("safetab 1.", "safetab 0."))
    assert found_in(site, signed)[0].startswith('MADE-OF.json: says "safetab 0.')
    made_of.unlink()
    assert found_in(site, signed)[0].startswith("MADE-OF.json: does not say which version made this.")


def test_the_release_itself_comes_first(site, signed, tmp_path):
    out = Path(shutil.copytree(signed, tmp_path / "out"))
    with (out / "release" / "README.txt").open("a") as file:
        file.write("Exact.")
    assert any("changed after the release was made: README.txt" in one for one in found_in(site, out))


def test_a_site_that_compares_and_links_is_made_again_with_the_same(tmp_path):
    safetab.run(*WORLD, tmp_path / "earlier", test_key="0e" * 32)
    given = {"earlier": tmp_path / "earlier", "linked": (HOUSEHOLDS, str(tmp_path / "households"))}
    safetab.site(PERSONS, tmp_path / "site", **given)  # type: ignore[arg-type]
    assert found_in(tmp_path / "site", PERSONS, **given) == []
    found = found_in(tmp_path / "site", PERSONS)
    advice = "Give what else the site was made with: `linked`, `boundaries`, `earlier`."
    assert f"data/facts.js: is not what the release gives. {advice}" in found


def test_what_is_neither_a_site_nor_an_export_is_refused(signed, tmp_path):
    with pytest.raises(safetab.InvalidInput, match="is no site and no export"):
        safetab.verify(tmp_path, of=signed)
    with pytest.raises(safetab.InvalidInput, match="belong to a site: give its OUT too"):
        safetab.verify(signed, boundaries="shapes.json")
