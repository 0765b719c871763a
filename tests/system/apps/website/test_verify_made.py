"""`safetab verify SITE OUT` makes a site or an export again from its release, and compares every byte."""

import json
import shutil
import signal
from functools import cache
from pathlib import Path

import pytest

import safetab
from tests.commands import cli, done
from tests.inside import check_files, exits_with_code, made_again_module, sha256_of, write_checksums
from tests.releases import json_of
from tests.stored_formats import LATEST

OTHER = "is not what the release gives."


@pytest.fixture(autouse=True, scope="module")
def each_release_is_verified_once():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made_again_module, "verify_release", cache(made_again_module.verify_release))
        yield


def found_in(path, of, **given):
    return [f"{one.where}: {one.message}" for one in safetab.verify(path, of=of, **given).findings]  # type: ignore[arg-type]


def told_of(made, of):
    """What the command finds: it ends with 1, in its document too, as scripts that ask for the exit code need."""
    ended = cli("verify", made, of, "--json")
    document = json.loads(ended.stdout)
    assert (ended.exit_code, document["exit_code"]) == (1, 1), ended.output
    assert {one["severity"] for one in document["findings"]} == {"error"}
    return [f"{one['where']}: {one['message']}" for one in document["findings"]]


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """A signed release, with its key and what was made of it beside it."""
    folder = tmp_path_factory.mktemp("signed")
    out = Path(shutil.copytree(LATEST / "official", folder / "out"))
    safetab.new_key(folder / "agency")
    safetab.sign(out, folder / "agency", not_for_release=True)
    safetab.site(out, folder / "site")
    safetab.export(out, folder / "tidy")
    safetab.export(out, folder / "census", form="census")
    return out


@pytest.fixture
def site(signed, tmp_path):
    return Path(shutil.copytree(signed.parent / "site", tmp_path / "site"))


@pytest.mark.parametrize("name", ["site", "tidy", "census"])
def test_what_is_made_of_a_signed_release_names_its_checksum_and_is_found_right(name, signed):
    made = signed.parent / name
    check_files(made)  # as `sha256sum -c SHA256SUMS` does
    stated = json_of(made / "MADE-OF.json")
    covered = json_of(signed / "SIGNATURE.json")["sha256"]["SHA256SUMS"]
    assert stated["release"]["sha256"]["SHA256SUMS"] == covered == sha256_of(signed / "SHA256SUMS")
    said = " ".join(done("verify", made, signed, "--key", signed.parent / "agency.pub").split())
    assert f"Every file of {made} is what {signed} gives." in said
    assert "with the given key" in said


def replaced_once(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_whatever_is_changed_in_a_site_is_found_though_its_checksums_are_right(site, signed):
    numbers = max((site / "data" / "areas").rglob("*.js"), key=lambda path: path.stat().st_size)
    text = numbers.read_text()
    digit = next(at for at, letter in enumerate(text) if letter in "12345678" and at > len(text) // 2)
    numbers.write_text(text[:digit] + "9" + text[digit + 1 :])
    (site / "index.html").write_text("<script>")
    (site / "site.css").unlink()
    (site / ".records").write_text("x")
    replaced_once(site / "MADE-OF.json", 'SHA256SUMS": "', 'SHA256SUMS": "0')
    write_checksums(site)
    check_files(site)
    other = ("index.html", "MADE-OF.json", "SHA256SUMS", numbers.relative_to(site).as_posix())
    found = told_of(site, signed)
    assert {f"{name}: {OTHER}" for name in other} | {"site.css: is missing."} < {*found}
    assert any(one.startswith(".records: is not among the files that the release") for one in found)
    assert len(found) == 6


@pytest.mark.parametrize("form", ["tidy", "census"])
def test_a_changed_table_of_an_export_is_found(form, signed, tmp_path):
    made = Path(shutil.copytree(signed.parent / form, tmp_path / form))
    table = min(path for path in made.rglob("*.csv") if ",1" in path.read_text())
    replaced_once(table, ",1", ",2")
    write_checksums(made)
    assert told_of(made, signed) == [f"SHA256SUMS: {OTHER}", f"{table.relative_to(made).as_posix()}: {OTHER}"]


def test_ctrl_c_stops_the_check_after_the_copy_was_made(site, signed, monkeypatch):
    monkeypatch.setattr(made_again_module.filecmp, "cmpfiles", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    with exits_with_code(), pytest.raises(KeyboardInterrupt):
        made_again_module.verify_made(site, signed)


def test_a_link_is_never_followed_and_another_version_is_told(site, signed):
    (site / "site.css").unlink()
    (site / "site.css").symlink_to("index.html")
    assert found_in(site, signed) == ["site.css: is a link, or not a regular file."]
    (site / "site.css").unlink()
    replaced_once(site / "MADE-OF.json", "safetab 1.", "safetab 0.")
    assert found_in(site, signed)[0].startswith('MADE-OF.json: says "safetab 0.')
    (site / "MADE-OF.json").unlink()
    assert found_in(site, signed)[0].startswith("MADE-OF.json: does not say which version made this.")


def test_the_release_itself_comes_first(site, signed, tmp_path):
    out = Path(shutil.copytree(signed, tmp_path / "out"))
    (out / "README.txt").write_text("Exact.")
    assert any("changed after the release was made: README.txt" in one for one in found_in(site, out))


def test_a_site_that_compares_and_links_is_made_again_with_the_same(signed, releases, tmp_path):
    site, linked = tmp_path / "site", (LATEST / "households", str(tmp_path / "households"))
    given = {"earlier": releases.people(2, people=60, budget=1).out, "linked": linked}
    safetab.site(signed, site, **given)  # type: ignore[arg-type]
    assert any((site / "data" / "earlier").rglob("*-2/*.js"))
    assert found_in(site, signed, **given) == []
    advice = "Give what else the site was made with: `linked`, `boundaries`, `earlier`."
    assert f"data/facts.js: {OTHER} {advice}" in found_in(site, signed)


def test_what_is_neither_a_site_nor_an_export_is_refused(signed, tmp_path):
    with pytest.raises(safetab.InvalidInput, match="is no site and no export"):
        safetab.verify(tmp_path, of=signed)
    with pytest.raises(safetab.InvalidInput, match="belong to a site: give its OUT too"):
        safetab.verify(signed, boundaries="shapes.json")
