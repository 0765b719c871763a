"""`safetab site --earlier`: the totals of an earlier release beside those of a release, and what can't be compared."""

import json
import shutil
from fractions import Fraction

import numpy as np
import pytest

import safetab
from tests.commands import done, refused
from tests.inside import (
    Absence,
    Estimate,
    OutputStatus,
    Stage,
    earlier_module,
    far_threshold,
    release_folder_module,
    write_checksums,
    write_site,
)
from tests.releases import files_of, json_of
from tests.site_files import SiteFiles
from tests.stored_formats import stored
from tests.system.apps.website.test_site import write_persons
from tests.worlds.world import World

pytestmark = pytest.mark.slow

STATE = "44"  # the only one that both releases have


def of_state(newer, folder, state):
    """The world of the newer release with one state alone."""
    world = World.of(newer.parent / "world").copy(folder)
    world.configure(state_filter_us=[state])
    return world


@pytest.fixture(scope="module")
def newer(tmp_path_factory):
    return write_persons(tmp_path_factory.mktemp("newer"))


@pytest.fixture(scope="module")
def earlier(newer, tmp_path_factory):
    """Another draw and another confidence, for one state. A group had another name, and another was not listed."""
    folder = tmp_path_factory.mktemp("earlier")
    world = of_state(newer, folder, STATE)
    for name in ("ethnicity-characteristic-iterations.txt", "race-and-ethnicity-code-to-iteration.txt"):
        lines = (world.parameters / name).read_text().replace("group 1091", "bunch 1091").splitlines()
        kept = [line for line in lines if not line.startswith("1093|")]
        (world.parameters / name).write_text("\n".join(kept) + "\n")
    return world.run(folder / "out", confidence="0.9", rules=["withhold-negatives"])


@pytest.fixture(scope="module")
def files(newer, earlier, tmp_path_factory):
    site = tmp_path_factory.mktemp("sites") / "site"
    write_site(newer, site, earlier=earlier)
    return SiteFiles(site)


def test_earlier_totals_are_those_of_the_earlier_release_at_the_newer_confidence(files, earlier, tmp_path):
    safetab.rerelease(earlier, tmp_path / "same", confidence="0.95", rules=["withhold-negatives"])
    release, facts = safetab.open_release(tmp_path / "same"), files.facts["earlier"]
    near = {(int(table), row[0]): tuple(row[1:]) for table, rows in facts["selected"].items() for row in rows}
    answers, selected, withheld = 0, 0, 0
    for (level, region, code), (number, value) in files.totals("earlier").items():
        answer = release.total(release.area(region, level), release.group(code))
        if number < 0:
            assert isinstance(answer, Absence)
            assert files.facts["rules"][-1 - number][0] == "withhold-negatives"
            withheld += 1
            continue
        assert isinstance(answer, Estimate)
        table = facts["tables"][number]
        plain = max(value - table["margin"], 0), max(value + table["margin"], 0)
        interval = near.get((number, value), plain) if table["isSelected"] else plain
        assert (value, table["margin"], interval) == (answer.value, answer.margin_of_error, answer.interval)
        answers += 1
        selected += answer.selection_matters
    assert answers > 40
    assert selected > 3
    assert withheld > 3


def test_what_is_far_above_a_threshold_is_so_by_the_earlier_noise(files, earlier):
    levels = release_folder_module.open_release_folder(earlier).universe.levels
    for noise, level in zip(files.facts["earlier"]["noises"], levels, strict=True):
        threshold = level.design.suppression_threshold
        if threshold is not None and level.design.stages:
            draw = level.design.noise(Stage.STAGE_2)
            assert noise["far"] == [far_threshold(draw, threshold, n, Fraction(19, 20)) for n in (1, 2)]


def test_what_only_one_release_has_is_told_from_what_was_not_published(files, earlier):
    release, absent = safetab.open_release(earlier), files.data("earlier/absent")
    states = next(n for n, one in enumerate(files.facts["geographies"]) if one["label"] == "STATE")
    assert [region for region, _ in files.areas[states]] == ["01", STATE]
    assert absent["areas"][states] == [[1, 2]]
    assert absent["areas"][0] == [], "the nation of the earlier release has one state less"
    codes = [code for code, *_ in files.groups]
    assert absent["reasons"][states][codes.index("1093")] == "x"
    assert files.facts["earlier"]["renamed"] == {str(codes.index("1091")): "bunch 1091"}
    looked_at = set()
    totals = {(level, code) for level, _, code in files.totals("earlier")}
    for number, (reasons, by_level) in enumerate(zip(absent["reasons"], absent["absent"], strict=True)):
        level = files.label(number)
        for (code, _, group_level, *_), why in zip(files.groups, reasons, strict=True):
            if why == "x" or (level, code) in totals:
                continue
            said = by_level[str(group_level)] if why == "0" else absent["why"][int(why) - 1]
            region = release._universe.entities[release._universe.census.area_level(level)].region_ids[0]
            answer = release.total(release.area(region, level), release.group(code))
            assert level == "USA" or answer.reason == said
            looked_at.add(why)
    assert len(looked_at) >= 2


def test_the_same_releases_give_the_same_bytes_and_a_site_can_be_replaced(newer, earlier, tmp_path):
    site = tmp_path / "site"
    done("site", newer, site, "--earlier", earlier)
    first = files_of(site)
    done("site", newer, site, "--earlier", earlier, "--overwrite")
    assert files_of(site) == first
    done("site", newer, site, "--overwrite")
    assert not (site / "data" / "earlier").exists()
    assert "earlier" not in SiteFiles(site).facts


def test_what_has_nothing_to_compare_is_refused(newer, earlier, tmp_path):
    """Of `again` many areas have numbers of their own. `other` and `earlier` have the nation alone in common."""
    again, other, inside = tmp_path / "again", tmp_path / "other", tmp_path / "release"
    safetab.rerelease(newer, again, confidence="0.9", rules=["withhold-alone-above-partner"])
    of_state(newer, tmp_path, "01").run(other, test_key="22" * 32)
    shutil.copytree(earlier / "release", inside)
    for release, before, words in [
        (newer, newer, "has the same measurements as"),
        (newer, again, "has the same measurements as"),
        (stored("persons")[-1], stored("official")[-1], "has the same measurements as"),
        (newer, stored("households")[-1], "it has counts of households (SafeTab-H) instead of people (SafeTab-P)"),
        (other, earlier, "has no number for an area and a group of"),
    ]:
        assert words in refused("site", release, tmp_path / "site", "--earlier", before)
        assert not (tmp_path / "site").exists()
    assert "is inside the release" in refused("site", newer, inside / "site", "--earlier", inside)


def test_releases_without_a_common_group_are_refused(newer, earlier, tmp_path, monkeypatch):
    without = np.full(len(safetab.open_release(earlier)._universe.lists.iterations), -1)
    monkeypatch.setattr(earlier_module.EarlierRelease, "_positions_of_groups", lambda _: without)
    words = refused("site", newer, tmp_path / "site", "--earlier", earlier)
    assert "has no number for an area and a group of" in words


def test_the_earlier_release_is_named(files, earlier):
    opened = release_folder_module.open_release_folder(earlier)
    assert files.facts["earlier"]["title"] == opened.universe.census.words.title
    assert files.facts["earlier"]["date"] == opened.facts.date.isoformat()


def test_the_graver_status_is_that_of_the_site(newer, earlier, tmp_path):
    """Here the newer release is marked as if it were for release."""
    release = shutil.copytree(newer / "release", tmp_path / "release")
    package = json_of(release / "datapackage.json")
    package["safetab"] |= {"status": "for release", "for_release": True}
    (release / "datapackage.json").write_text(json.dumps(package))
    write_checksums(release)
    assert write_site(release, tmp_path / "alone").status is OutputStatus.FOR_RELEASE
    assert write_site(release, tmp_path / "site", earlier=earlier).status is OutputStatus.TEST_KEY
    assert (tmp_path / "site" / "NOT-FOR-RELEASE").read_text().startswith("Status: test key.")
    facts = SiteFiles(tmp_path / "site").facts
    assert facts["status"]["line"].endswith("This is the status of the earlier release.")
    assert (facts["status"]["value"], facts["status"]["forRelease"]) == ("test key", False)
    assert facts["earlier"]["status"]["value"] == "test key"
