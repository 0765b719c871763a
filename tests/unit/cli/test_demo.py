"""The tour removes only what a tour made."""

import webbrowser
from types import SimpleNamespace

import pytest

from tests.commands import done, refused
from tests.inside import demo_module, functions_demo_module


@pytest.fixture(autouse=True)
def quick_tour(monkeypatch):
    def write(folder, **_):
        (folder / "data").mkdir()
        (folder / "data/SYNTHETIC").write_text("nobody")

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


def test_a_tour_replaces_a_tour_and_makes_the_folders_around_it(tmp_path):
    tour = tmp_path / "build/tour"
    done("demo", tour)
    (tour / "data/SYNTHETIC").write_text("changed")
    refused("demo", tour)
    done("demo", tour, "--overwrite")
    assert (tour / "data/SYNTHETIC").read_text() == "nobody"
    assert [path.name for path in tour.parent.iterdir()] == ["tour"]
    refused("demo", tour / "data/SYNTHETIC/tour")


def test_what_somebody_put_into_a_tour_stays(tmp_path):
    tour, thesis = tmp_path / "tour", "years of work"
    done("demo", tour)
    for name in "thesis.txt", "data/thesis.txt", "site/thesis.txt", "site-households/thesis.txt":
        (tour / name).write_text(thesis)
        assert f"holds what safetab didn't write there: {name}." in refused("demo", tour, "--overwrite")
        assert (tour / name).read_text() == thesis
        (tour / name).unlink()
    (tmp_path / "thesis.txt").write_text(thesis)
    (tour / "output").symlink_to(tmp_path)  # elsewhere, by a link
    refused("demo", tour, "--overwrite")
    assert (tmp_path / "thesis.txt").exists()


def test_a_folder_with_made_up_people_is_not_therefore_a_tour(tmp_path):
    (tmp_path / "data").mkdir()
    for name in "data/SYNTHETIC", "thesis.txt":
        (tmp_path / name).write_text("years of work")
    refused("demo", tmp_path, "--overwrite")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_browser_opens_on_the_site_if_asked(tmp_path, opened):
    done("demo", tmp_path / "quiet")
    assert opened == []
    done("demo", tmp_path / "tour", "--open")
    assert opened == [(tmp_path / "tour/site/index.html").as_uri()]


@pytest.mark.parametrize("has_display", [True, False])
def test_a_tour_without_a_browser_says_so_and_ends_well(has_display, tmp_path, opened, monkeypatch):
    if has_display:
        monkeypatch.setattr(webbrowser, "open", lambda _: False)
    else:
        monkeypatch.setattr(demo_module.sys, "platform", "linux")
        for name in "DISPLAY", "WAYLAND_DISPLAY", "BROWSER":
            monkeypatch.delenv(name, raising=False)
    assert "Can't open a browser here." in done("demo", tmp_path / "tour", "--open")
    assert (tmp_path / "tour/site/index.html").is_file()
    assert opened == []
