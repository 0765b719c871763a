"""The tour removes only what a tour made."""

import webbrowser
from types import SimpleNamespace

import pytest

from tests.commands import cli
from tests.inside import demo_module, functions_demo_module


@pytest.fixture(autouse=True)
def quick_tour(monkeypatch):
    def write(folder, **_):
        (folder / "data").mkdir()
        (folder / "data" / "SYNTHETIC").write_text("nobody")

    def write_site(_, folder, **_linked):
        folder.mkdir()
        (folder / "index.html").write_text("a site")

    monkeypatch.setattr(functions_demo_module, "write_demo_census", write)
    monkeypatch.setattr(functions_demo_module, "run_files", lambda *_, **__: SimpleNamespace(warnings=(), plan=None))
    monkeypatch.setattr(functions_demo_module, "write_site", write_site)
    monkeypatch.setattr(functions_demo_module, "write_explorer", lambda request: request.page.write_text("an explorer"))
    monkeypatch.setattr(demo_module, "show_run", lambda *_, **__: None)
    monkeypatch.setattr(demo_module, "show_county", lambda *_: None)


@pytest.fixture
def opened(monkeypatch):
    """Addresses that a browser was asked to open, on a machine with a display."""
    addresses = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not addresses.append(address))
    monkeypatch.setenv("DISPLAY", ":0")
    return addresses


def tour(out, *more):
    ended = cli("demo", out, *more)
    return ended.exit_code, ended.stderr


def test_a_tour_replaces_a_tour(tmp_path):
    assert tour(tmp_path / "tour") == (0, "")
    (tmp_path / "tour" / "data" / "SYNTHETIC").write_text("changed")
    assert tour(tmp_path / "tour")[0] == 1
    assert tour(tmp_path / "tour", "--overwrite") == (0, "")
    assert (tmp_path / "tour" / "data" / "SYNTHETIC").read_text() == "nobody"
    assert [path.name for path in tmp_path.iterdir()] == ["tour"]


@pytest.mark.parametrize("name", ["thesis.txt", "data/thesis.txt", "site/thesis.txt", "site-households/thesis.txt"])
def test_what_somebody_put_into_a_tour_stays(name, tmp_path):
    tour(tmp_path / "tour")
    (tmp_path / "tour" / name).write_text("years of work")
    code, stderr = tour(tmp_path / "tour", "--overwrite")
    assert code == 1
    assert f"holds what safetab didn't write there: {name}." in stderr
    assert (tmp_path / "tour" / name).read_text() == "years of work"


def test_a_folder_with_made_up_people_is_not_therefore_a_tour(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "SYNTHETIC").touch()
    (tmp_path / "thesis.txt").write_text("years of work")
    assert tour(tmp_path, "--overwrite")[0] == 1
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_tour_that_leads_elsewhere_by_a_link_removes_nothing_there(tmp_path):
    tour(tmp_path / "tour")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis.txt").write_text("years of work")
    (tmp_path / "tour" / "output").symlink_to(tmp_path / "theirs")
    assert tour(tmp_path / "tour", "--overwrite")[0] == 1
    assert (tmp_path / "theirs" / "thesis.txt").exists()


def test_the_folder_that_a_tour_goes_into_is_made(tmp_path):
    assert tour(tmp_path / "build" / "tour") == (0, "")
    (tmp_path / "file").write_text("no folder")
    assert tour(tmp_path / "file" / "tour")[0] == 1


def test_a_browser_opens_on_the_site_if_asked(tmp_path, opened):
    tour(tmp_path / "quiet")
    assert opened == []
    tour(tmp_path / "tour", "--open")
    assert opened == [(tmp_path / "tour" / "site" / "index.html").as_uri()]


@pytest.mark.parametrize("has_display", [True, False])
def test_a_tour_without_a_browser_says_so_and_ends_well(has_display, tmp_path, opened, monkeypatch):
    if has_display:
        monkeypatch.setattr(webbrowser, "open", lambda _: False)
    else:
        monkeypatch.setattr(demo_module.sys, "platform", "linux")
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
            monkeypatch.delenv(name, raising=False)
    ended = cli("demo", tmp_path / "tour", "--open")
    assert ended.exit_code == 0
    assert "Can't open a browser here." in ended.stdout
    assert (tmp_path / "tour" / "site" / "index.html").is_file()
    assert opened == []
