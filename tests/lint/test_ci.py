"""`.ci/run`, with a Makefile whose steps only say that they ran."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.cases import cases_of, values_of
from tests.conftest import PROJECT
from tests.lint.texts import text_of

STEPS = sorted(set(re.findall(r"^ +step make .*?([a-z-]+)(?: #.*)?$", text_of(".ci/run"), re.MULTILINE)))
EVERY_TIME = sorted(set(STEPS) - {"test-spark-smoke"})
TOOLS = str.split(
    "basename bash cat cp dirname env git grep ln make mkdir mktemp nproc false rm setsid sleep tail test touch true"
)


class Project:
    """A git repository with `.ci/run` and a step for each that it calls."""

    def __init__(self, folder):
        self.folder = folder / "project"
        self.programs = folder / "programs"
        (self.folder / ".ci").mkdir(parents=True)
        self.programs.mkdir()
        shutil.copy(PROJECT / ".ci" / "run", self.folder / ".ci")
        (self.folder / ".gitignore").write_text("build/\n")
        for tool in TOOLS:
            (self.programs / tool).symlink_to(str(shutil.which(tool)))
        for program in ("chromium", "soffice", "cc"):
            self.program(program, "true")
        self.write_steps()
        for command in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm a"):
            self.git(command)

    def git(self, words):
        subprocess.run(["git", *words.split()], cwd=self.folder, check=True)

    def program(self, name, line):
        path = self.programs / name
        path.write_text(f"#!/usr/bin/env bash\n{line}\n")
        path.chmod(0o755)

    def write_steps(self, **recipes):
        """Every step writes its name into build/ran; some do more."""
        (self.folder / "Makefile").write_text(
            f".PHONY: {' '.join(STEPS)}\n"
            + "".join(
                f"{step}:\n\t@echo {step} >>build/ran\n\t@{recipes.get(step.replace('-', '_'), 'true')}\n"
                for step in STEPS
            )
        )

    def start(self):
        environment = {"PATH": str(self.programs), "HOME": os.environ.get("HOME", "/")}
        return subprocess.Popen(
            [self.folder / ".ci" / "run"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def run(self):
        """The exit code and what is printed; what ran before is forgotten."""
        (self.folder / "build" / "ran").unlink(missing_ok=True)
        started = self.start()
        said, _ = started.communicate(timeout=60)
        return started.returncode, said

    def passed(self):
        """What is printed by a run that must pass."""
        code, said = self.run()
        assert code == 0, said
        return said

    def failed(self):
        code, said = self.run()
        assert code == 1
        return said

    def ran(self):
        path = self.folder / "build" / "ran"
        return sorted(path.read_text().split()) if path.exists() else []


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def is_running(process):
    return Path(f"/proc/{process}").exists()


def number_in(path):
    """The number that another process writes into a file."""
    for _ in range(200):
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.05)
    raise AssertionError(f"{path} was not written")


def test_every_step_is_a_target_and_the_readmes_test_command_is_among_them():
    assert set(STEPS) <= set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    assert "`make test` runs the tests" in text_of("README.md")
    assert {"check", "test"} <= set(STEPS)


def test_every_step_runs_once_and_what_passed_is_not_run_again(project):
    said = project.passed()
    assert project.ran() == EVERY_TIME
    assert re.search(r"test: passed in \d+m\d\.\ds, 0m0\.\ds of CPU", said)
    assert said.index(" check: passed") < said.index(" test: begins")
    project.passed()
    assert project.ran() == []


def test_a_run_that_was_cut_off_goes_on_where_it_stopped(project):
    project.write_steps(test="test -e build/mended")
    assert "test: FAILED" in project.failed()
    (project.folder / "build" / "mended").touch()
    assert "check: passed before on these files" in project.passed()
    assert "test" in project.ran()
    assert "check" not in project.ran()


@pytest.mark.parametrize("changed", ["Makefile", "new.txt"])
def test_a_changed_or_new_file_makes_every_step_run(project, changed):
    project.passed()
    with (project.folder / changed).open("a") as file:
        file.write("# changed\n")
    project.passed()
    assert set(project.ran()) >= set(EVERY_TIME) - {"test-spark-contract"}
    project.git("checkout -q .")
    (project.folder / "new.txt").unlink(missing_ok=True)
    project.passed()  # these files have passed before
    assert project.ran() == []


def test_a_step_during_which_a_file_changes_has_no_stamp(project):
    project.write_steps(check="touch new.txt")
    project.passed()
    stamps = [path.stem for path in (project.folder / "build" / "ci").iterdir() if len(path.suffix) == 41]
    assert stamps == ["environment"]


def test_a_check_that_fails_is_shown_and_nothing_else_begins(project):
    project.write_steps(check="echo wrong name in line 7; false")
    assert "wrong name in line 7" in project.failed()
    assert project.ran() == ["check", "environment"]


@pytest.mark.parametrize(
    ("slow", "fails"),
    cases_of("""
        test | docs
        docs | test
    """),
)
def test_a_failure_ends_the_other_lane_with_all_its_processes(project, slow, fails):
    build = project.folder / "build"
    project.program("detached", f"echo $$ >{build}/detached; exec sleep 300")
    project.write_steps(
        **{
            slow: f"setsid detached & echo $$$$ >{build}/shell; sleep 300; true",
            fails: f"while ! test -s {build}/detached; do sleep 0.1; done; false",
        }
    )
    begin = time.monotonic()
    said = project.failed()
    assert time.monotonic() - begin < 30
    assert f"{fails}: FAILED" in said
    assert f"{slow}: FAILED" not in said
    for name in ("detached", "shell"):
        assert not is_running(number_in(build / name))


def test_a_run_that_is_ended_leaves_no_process(project):
    shell = project.folder / "build" / "shell"
    project.write_steps(test=f"echo $$$$ >{shell}; sleep 300; true")
    with project.start() as started:
        process = number_in(shell)
        started.terminate()
        started.communicate(timeout=30)
    assert started.returncode == 143
    assert not is_running(process)


@pytest.mark.parametrize(("line", "code", "said"), values_of("""
    "echo $@ >>$(dirname $0)/installed; ln -sf /bin/true $(dirname $0)/chromium" | 0 | "packages: installed"
    "echo no network; exit 100" | 1 | "no network"
"""))  # fmt: skip
def test_a_bare_machine_gets_its_packages_beside_the_check(project, line, code, said):
    (project.programs / "chromium").unlink()
    project.program("apt-get", line)
    found = project.run()
    assert found[0] == code
    assert said in found[1]


@pytest.mark.parametrize(("changed", "step"), cases_of("""
    README.md | test-spark-smoke
    src/safetab/counting/new.py | test-spark-contract
    src/safetab/foundation/new.py | test-spark-contract
    requirements-spark.lock | test-spark-contract
"""))  # fmt: skip
@pytest.mark.parametrize("known", ["it passed here", "it is on origin"])
def test_spark_is_tried_whole_only_if_what_it_does_may_have_changed(known, changed, step, project):
    if known == "it passed here":
        project.passed()
        assert "test-spark-contract" in project.ran()
    else:
        project.git("update-ref refs/remotes/origin/main HEAD")
    path = project.folder / changed
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("changed\n")
    project.passed()
    assert [one for one in project.ran() if "spark" in one] == [step]


def test_spark_is_tried_whole_on_what_is_on_origin_itself(project):
    project.git("update-ref refs/remotes/origin/main HEAD")
    project.passed()
    assert [one for one in project.ran() if "spark" in one] == ["test-spark-contract"]
