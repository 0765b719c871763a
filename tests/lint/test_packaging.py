"""What comes with the package: its documentation, a container, a conda recipe, a pipeline, a release, and its uninstallation."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import webbrowser
from pathlib import Path

import pytest
import typer

from safetab.cli.main import app
from tests.cases import cases_of, values_of
from tests.commands import cli, done, refused
from tests.conftest import PROJECT
from tests.inside import documentation_module
from tests.lint.texts import text_of
from tools.docs.site.pages import places_of
from tools.supply_chain import installation, release
from tools.supply_chain.documentation import slug, write_documentation

PIPELINE = PROJECT / "examples" / "pipeline" / "pipeline.sh"


@pytest.fixture(scope="module")
def documentation(tmp_path_factory):
    """The pages that the wheel carries."""
    folder = tmp_path_factory.mktemp("package") / "safetab" / "documentation"
    assert write_documentation(PROJECT, folder) == []
    return folder


@pytest.fixture
def installed(documentation, monkeypatch):
    monkeypatch.setattr(documentation_module, "PACKAGE", documentation.parent)
    return documentation


@pytest.fixture
def opened(monkeypatch):
    """Addresses that a browser was asked to open, on a machine with a display."""
    addresses = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not addresses.append(address))
    monkeypatch.setenv("DISPLAY", ":0")
    return addresses


def project():
    return tomllib.loads(text_of("pyproject.toml"))["project"]


def asked(*arguments):
    ended = cli("docs", *arguments)
    return ended.exit_code, ended.stdout, ended.stderr


@pytest.mark.parametrize(
    ("page", "file", "anchor"),
    cases_of(
        """
        | index.html |
        how-to/read-a-release | how-to/read-a-release.html |
        read-a-release | how-to/read-a-release.html |
        docs/file-formats.md#status | file-formats.html | #status
        SECURITY | SECURITY.html |
        """
    ),
)
def test_a_page_is_opened_by_its_name(page, file, anchor, installed, opened):
    assert asked(*([page] if page else [])) == (0, f"{installed / file}\n", "")
    assert opened == [(installed / file).as_uri() + anchor]


@pytest.mark.usefixtures("installed")
def test_without_a_browser_the_path_is_enough(opened, monkeypatch):
    assert asked("--path")[1].endswith("index.html\n")
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert "Can't open a browser here." in done("docs")
    assert opened == []


@pytest.mark.usefixtures("installed")
def test_a_page_that_is_not_there_is_told_with_similar_names():
    assert "Did you mean how-to/read-a-release" in refused("docs", "how-to/read-a-relaese")
    assert asked("zzzzzz")[2] == "The page zzzzzz does not exist. `safetab docs` opens a list of all pages.\n"
    assert "Did you mean" not in asked("nope")[2]


@pytest.mark.usefixtures("installed")
def test_a_part_of_a_page_that_is_not_there_is_told():
    assert "The part nowhere of the page file-formats does not exist. " in refused("docs", "file-formats#nowhere")


def test_a_source_tree_shows_the_pages_that_it_has(monkeypatch, tmp_path):
    monkeypatch.setattr(documentation_module, "PACKAGE", tmp_path / "tree" / "src" / "safetab")
    assert "made from a source tree" in refused("docs", "--path", code=3)
    for file in ("tree/docs/overview.md", "tree/docs/privacy.md", "tree/build/docs/index.html"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
        assert asked("--path", "privacy" if file.endswith("privacy.md") else "") == (0, f"{tmp_path / file}\n", "")


def test_every_page_that_a_help_mentions_is_in_the_wheel(documentation):
    def helps(command):  # type: ignore[name-defined]
        below = getattr(command, "commands", {}).values()
        options = " ".join(getattr(each, "help", None) or "" for each in command.params)
        return " ".join([command.help or "", options, *map(helps, below)])

    pages = re.findall(r"docs/([\w/-]+)\.md|`safetab docs ([\w/-]+)", helps(typer.main.get_command(app)))
    assert len(pages) >= 2
    assert [page for page in pages if not (documentation / f"{page[0] or page[1]}.html").is_file()] == []


def printed_texts(file):
    """The texts of a program but its docstrings, or the text files that lie beside it but their comments."""
    text = file.read_text()
    if file.suffix != ".py":
        return [line for line in text.splitlines() if not line.strip().startswith(("#", "//", "/*", "*"))]
    nodes = list(ast.walk(ast.parse(text)))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
    ]


def test_no_message_names_a_page_that_only_the_source_archive_has():
    files = [path for path in (PROJECT / "src").rglob("*") if path.suffix in {".py", ".toml", ".txt", ".md", ".yaml"}]
    named = [
        (path.name, page[0])
        for path in files
        if "docs/" in path.read_text()
        for text in printed_texts(path)
        if (page := re.search(r"(?<!/)\bdocs/\S+\.md", text))
    ]
    assert named == [("documentation.py", "docs/overview.md")]  # which looks for the pages of a source tree
    assert len(files) > 300


def test_the_documentation_has_every_page_and_needs_nothing_else(documentation):
    """That each link leads somewhere, and nothing is fetched, is among the faults of which it has none."""
    pages = {Path(place).with_suffix(".html") for place in places_of(PROJECT).values() if place.endswith(".md")}
    assert {Path("index.html"), Path("tutorial/using-a-release.html")} < pages
    assert [page for page in pages if not (documentation / page).is_file()] == []
    python = (documentation / "reference" / "python.html").read_text()
    assert "open_release(" in python
    assert "eval-rst" not in python
    assert re.search(r"\b0x[0-9a-f]{6}", python) is None  # an address would differ in the next build
    assert "safetab validate" in (documentation / "reference" / "commands.html").read_text()


def test_programs_find_the_schemas_in_the_wheel(documentation):
    schemas = {path.name for path in (PROJECT / "docs" / "schemas").iterdir()}
    assert {path.name for path in (documentation / "schemas").glob("*.json")} == schemas
    listed = re.findall(
        r'<li><a href="([\w-]+\.schema\.json)">', (documentation / "schemas" / "index.html").read_text()
    )
    assert (set(listed), len(listed) > 20) == (schemas, True)
    assert (
        '<a href="../schemas/index.html">schemas</a>' in (documentation / "how-to" / "from-programs.html").read_text()
    )


def test_a_link_that_leads_nowhere_is_told(tmp_path):
    for (name,) in cases_of(
        """
        CONTRIBUTING.md
        CODE_OF_CONDUCT.md
        GOVERNANCE.md
        SECURITY.md
        CHANGELOG.md
        docs/overview.md
        docs/reference/python.md
        """
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# A page\n\n## Part\n")
    (tmp_path / "README.md").write_text("# Start\n\n[there](docs/overview.md#part) [gone](docs/overview.md#gone)\n")
    assert write_documentation(tmp_path, tmp_path / "made") == ["start.html: index.html#gone leads nowhere."]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    cases_of("""
        Run a census | run-a-census
        It's `T`, 95 % | its-t-95-
    """),
)
def test_a_heading_has_the_anchor_that_links_expect(heading, anchor):
    assert slug(heading.replace("`", "")) == anchor


def container_lines():
    text = text_of("Containerfile").replace("\\\n", " ")
    return [line.split(maxsplit=1) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def test_the_container_runs_as_a_user_without_rights():
    lines = container_lines()
    final = lines[max(place for place, (name, _) in enumerate(lines) if name == "FROM") :]
    (user,) = (rest for name, rest in final if name == "USER")
    assert [int(number) > 0 for number in user.split(":")] == [True, True]
    assert ["ENTRYPOINT", '["safetab"]'] in final
    assert not [name for name, _ in final if name in {"RUN", "EXPOSE", "ADD"}]  # nothing is fetched into the image


def test_the_container_installs_only_what_is_locked():
    lines = container_lines()
    commands = [part for name, rest in lines if name == "RUN" for part in rest.split("&&") if "pip install" in part]
    assert len(commands) == 2
    for command in commands:
        assert "--require-hashes" in command or "--no-index --no-deps" in command
    assert {rest.split()[0] for name, rest in lines if name == "FROM"} == {"${PYTHON}"}
    copied = next(rest.split()[:-1] for name, rest in lines if name == "COPY")
    assert [path for path in copied if not path.startswith("build/dist/")] == ["requirements.lock"]
    (version,) = (rest for name, rest in lines if name == "ARG")
    assert version.removeprefix("PYTHON=python:")[:4] in installation.PYTHONS


def test_a_build_of_the_container_sees_no_records_that_lie_beside_it():
    ignored = text_of(".containerignore")
    assert ignored.splitlines()[1:] == ["*", "!requirements.lock", "!build/dist/*.whl"]
    assert text_of(".dockerignore") == ignored
    copied = next(rest.split()[:-1] for name, rest in container_lines() if name == "COPY")
    assert [f"!{path}" for path in copied] == ignored.splitlines()[2:]


def test_documents_show_the_version_of_today():
    pages = {path: path.read_text() for path in (PROJECT / "docs").rglob("*.md")}
    shown = [
        (path.name, version)
        for path, text in pages.items()
        for version in re.findall(r'"safetab_version": "([^"]*)"|safetab-([\d.]*\d)[-.](?:py3|tar)', text)
    ]
    assert {name for name, _ in shown} >= {"from-programs.md", "install.md"}
    assert {"".join(version) for _, version in shown} == {release.version()}


def test_the_conda_recipe_says_what_pyproject_says():
    recipe = text_of("packaging/conda/recipe.yaml")
    run = re.search(r"^  run:\n((?:    - .*\n)+)", recipe, re.MULTILINE)
    assert run is not None
    named = [line.strip().removeprefix("- ").replace(" ", "") for line in run[1].splitlines()]
    everywhere = [each for each in project()["dependencies"] if ";" not in each]  # conda builds no wheels by itself
    assert named == [f"python{project()['requires-python']}", *everywhere]
    build = tomllib.loads(text_of("pyproject.toml"))["build-system"]["requires"]
    assert [each.replace("flit_core", "- flit-core ") in recipe for each in build] == [True]
    for name, command in project()["scripts"].items():
        assert f"- {name} = {command}\n" in recipe
    for line in (f'version: "{project()["version"]}"', f"summary: {project()['description']}", "license: Apache-2.0"):
        assert f"  {line}\n" in recipe


@pytest.fixture
def command_on_path(tmp_path, monkeypatch):
    command = tmp_path / "bin" / "safetab"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m safetab "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:/usr/bin:/bin")


def pipeline(*arguments, **named):
    named = {"PATH": os.environ["PATH"]} | {name: str(value) for name, value in named.items()}
    return subprocess.run([PIPELINE, *map(str, arguments)], capture_output=True, check=False, text=True, env=named)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.mark.usefixtures("command_on_path")
def test_the_pipeline_stops_at_the_first_step_that_fails(tmp_path, out):
    names = {"SPEND_LOG": tmp_path / "log", "DATASET": "people"}
    assert pipeline("only", "two", **names).returncode == 2
    assert "exists. Name a new folder." in pipeline(tmp_path, tmp_path, tmp_path, **names).stderr
    for _ in range(2):  # nothing is in the way of the run that follows a failed one
        assert pipeline(tmp_path, tmp_path, out, **names).returncode == 1
        assert [path.name for path in sorted(out.with_suffix(".part").iterdir())] == ["curator", "to-review"]
        assert list((out.with_suffix(".part") / "to-review").iterdir()) == []
    assert not out.exists()
    (out.with_suffix(".part") / "run").mkdir()
    refused = pipeline(tmp_path, tmp_path, out, **names)
    assert (refused.returncode, "is the output of a run that is charged" in refused.stderr) == (2, True)
    assert (out.with_suffix(".part") / "run").is_dir()


@pytest.mark.parametrize("named", [{}, {"SPEND_LOG": "log"}, {"DATASET": "people"}])
def test_the_pipeline_needs_to_know_whose_account_a_run_belongs_to(named, tmp_path, out):
    refused = pipeline(tmp_path, tmp_path, out, **named)
    assert (refused.returncode, "Name the spend log of these people, and these people" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("said", "folder"),
    cases_of("""
        true | public
        false | to-review
    """),
)
def test_the_pipeline_calls_public_only_what_may_be_released(said, folder, tmp_path, out, monkeypatch):
    command = tmp_path / "safetab"
    made = f'case $1 in run) mkdir -p "$4/release" ;; verify) echo \'  "for_release": {said},\' ;; esac\n'
    command.write_text(f"#!/bin/sh\n{made}")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert pipeline("parameters", "data", out, SPEND_LOG="log", DATASET="people").returncode == 0
    assert {path.name for path in out.iterdir()} == {"curator", "run", folder}
    assert not out.with_suffix(".part").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("command_on_path")
def test_the_pipeline_makes_a_release_and_adds_up_what_the_people_lose(tmp_path, out):
    census = (tmp_path / "census", tmp_path / "census-data")
    names = {"SPEND_LOG": tmp_path / "log", "DATASET": "people"}
    done("new", census[0])
    done("synthesize", census[0], "--people", 500)
    first = pipeline(*census, out, **names)
    assert (first.returncode, 'Spent before on "people": nothing.' in first.stderr) == (0, True)
    assert {path.name for path in out.iterdir()} == {"curator", "run", "to-review"}
    made = {path.name for path in (out / "to-review").iterdir()}
    assert made == {"plan.json", "release", "report.html", "site", "status.csv"}
    curator = out / "curator"
    assert {path.name for path in curator.iterdir()} >= {"run.log", "verified.json"}
    assert curator.stat().st_mode & 0o077 == 0
    second = pipeline(*census, tmp_path / "second", **names, SPEND_LIMIT="1")
    assert 'Spent before on "people": rho 0.6 in 1 run.' in second.stderr
    assert (second.returncode, "more than the limit of rho 1." in " ".join(second.stderr.split())) == (1, True)
    assert not (tmp_path / "second").exists()


CHANGELOG = "# Changelog\n\n## Unreleased\n\n{}## 2.0.0 - 2030-01-02\n\n### Added\n\n- More ([how](docs/a.md#b)).\n\n## 1.0.0 - 2029-01-01\n\n- All.\n"
CITATION = "version: 2.0.0\ndate-released: 2030-01-02\n"


def test_a_release_that_is_ready_has_no_faults():
    assert list(release.faults("2.0.0", CHANGELOG.format(""), CITATION)) == []


@pytest.mark.parametrize(
    ("version", "unreleased", "cited", "changed", "fault"),
    values_of(r"""
        "2.0.0" | "- New.\n\n" | "" | "" | "changes are still under Unreleased"
        "2.1.0" | "" | "2.0.0" | "2.1.0" | 'has no "## 2.1.0 - DATE"'
        "2.0.0" | "" | "2.0.0" | "1.9.0" | "has no line 'version: 2.0.0'"
        "2.0.0" | "" | "01-02" | "01-03" | "has no line 'date-released: 2030-01-02'"
    """),
)
def test_what_is_not_ready_for_a_release_is_told(version, unreleased, cited, changed, fault):
    found = release.faults(version, CHANGELOG.format(unreleased), CITATION.replace(cited, changed))
    assert fault in "\n".join(found)


def test_a_release_has_its_notes_and_the_checksums_of_all_files(tmp_path, monkeypatch):
    (tmp_path / "dist").mkdir()
    for name in ("safetab-2.0.0.tar.gz", "safetab-2.0.0-py3-none-any.whl"):
        (tmp_path / "dist" / name).write_bytes(b"")
    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    checksum = release.write_release(tmp_path / "out", "2.0.0", CHANGELOG.format(""))
    assert checksum == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # of no bytes
    assert (tmp_path / "out" / "release-notes.md").read_text() == "# safetab 2.0.0\n\n### Added\n\n- More (how).\n"
    names = "SHA256SUMS release-notes.md safetab-2.0.0-py3-none-any.whl safetab-2.0.0.cdx.json safetab-2.0.0.tar.gz"
    assert " ".join(sorted(path.name for path in (tmp_path / "out").iterdir())) == names
    subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=tmp_path / "out", check=True)


PUBLISHED = {"Repository": "https://example.org/safetab"}


@pytest.mark.parametrize(
    ("is_published", "page", "text", "fault"),
    values_of("""
        False | "README.md" | "" | "[project.urls] has no Repository"
        True | "SECURITY.md" | "Write to somebody." | "SECURITY.md: has no address"
        True | "README.md" | "safetab isn't published yet." | "README.md: says that"
        True | "docs/how-to/install.md" | "It isn't published yet." | "install.md: says that"
    """),
)
def test_a_release_needs_an_address_that_faults_are_told_to(is_published, page, text, fault):
    urls = PUBLISHED if is_published else {}
    ready = {"SECURITY.md": f"Write to {PUBLISHED['Repository']}/security."}
    assert list(release.missing_addresses(PUBLISHED, lambda name: ready.get(name, ""))) == []
    assert fault in "\n".join(release.missing_addresses(urls, lambda name: (ready | {page: text}).get(name, "")))


def test_a_release_is_refused_before_its_checks_while_there_is_no_repository(monkeypatch, capsys):
    ready, checks, _ = text_of("Makefile").split("\nrelease: ")[1].split("\n\n")[0].splitlines()[1:]
    assert ready.endswith("tools.supply_chain.release --ready")
    assert checks.startswith("\t$(MAKE) check test ")
    monkeypatch.setattr(release, "uncommitted", str)
    monkeypatch.setattr(release, "faults", lambda *_: ())
    monkeypatch.setattr(release, "project", lambda: {"version": "1.0.0", "urls": {}})
    assert release.main(["--ready"]) == 1
    assert "Publish the source" in capsys.readouterr().err


def test_the_first_pages_say_what_the_classifiers_say():
    assert "Operating System :: POSIX :: Linux" in project()["classifiers"]
    assert "You need Linux, Python 3.11 to 3.14, make," in text_of("README.md")
    assert "You need Linux and Python 3.11 to 3.14.\n" in text_of("packaging/long-description.md")


def test_this_version_has_its_place_in_the_changelog_and_in_the_citation():
    sections = release.sections(text_of("CHANGELOG.md"))
    assert any(each.startswith(release.version()) for each in sections)
    assert f"version: {release.version()}\n" in text_of("CITATION.cff")


def test_the_python_that_runs_this_is_among_those_that_are_tried():
    assert installation.pythons()["{}.{}".format(*sys.version_info)] == Path(sys.executable)


class Uninstalled(installation.Environment):
    """A virtual environment that pip left as it is."""

    def __init__(self, folder):
        self.bin = folder / "venv" / "bin"
        self.bin.mkdir(parents=True)

    def pip(self, *_, **__):
        return ""


def test_a_file_that_an_uninstallation_leaves_is_told(tmp_path):
    environment = Uninstalled(tmp_path)
    installation.uninstall(environment)
    left = tmp_path / "venv" / "lib" / "safetab" / "foundation" / "__pycache__" / "loops.added-1.py311.nbi"
    left.parent.mkdir(parents=True)
    left.touch()
    with pytest.raises(installation.StepError, match="these files are left"):
        installation.uninstall(environment)


def test_nothing_follows_a_step_that_failed(tmp_path, monkeypatch):
    def fails(_):
        installation.run([sys.executable, "-c", "import sys; sys.exit('no such thing')"], {})

    monkeypatch.setattr(installation, "Environment", lambda *_: None)
    monkeypatch.setattr(installation, "STEPS", (print, fails, print))
    found = list(installation.outcomes(Path(sys.executable), tmp_path))
    assert [(name, error is None) for name, error, _ in found] == [("print", True), ("fails", False)]
    assert "ended with 1:\nno such thing" in str(found[1][1])
