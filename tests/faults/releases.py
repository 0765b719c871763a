"""Damaged releases: every command that reads one says so and writes nothing; forged ones get a sentence or are read."""

import os
import shutil
import sys
from pathlib import Path

import safetab
from tests.faults.commands import code_of_command, ended, warmed_up
from tests.faults.mutations import BYTES, LINES, another_json, another_table, one_bit
from tests.faults.suite import wrong_ending
from tests.faults.worlds import write_world
from tests.inside import CHECKSUMS_FILE, InvalidInput, write_checksums

_FORGED = 0.25
"""The share of releases whose checksums fit what is there: these may be read, and may be refused."""


class DamagedReleases:
    name = "releases"
    cases = 2_000

    def prepare(self, folder):
        self.outs, self.geography = {}, folder / "text" / "data" / "GRF-C.txt"
        for kind in ("text", "households"):
            world = write_world(kind, folder / kind)
            self.outs[kind] = folder / f"out-{kind}"
            warmed_up(["run", world.parameters, world.data, self.outs[kind], "--csv"])
        (folder / "made").mkdir()
        for out in self.outs.values():
            warmed_up(*reading_commands(out / "release", folder / "made" / out.name).values())
        warmed_up(*whole_output_commands(self.outs["text"], folder / "made" / "again", self.geography).values())

    def findings(self, number, rng, folder):
        kind, is_whole_output = rng.choice(sorted(self.outs)), rng.random() < 0.2
        kind = "text" if is_whole_output else kind
        source = self.outs[kind] if is_whole_output else self.outs[kind] / "release"
        given = Path(shutil.copytree(source, folder / "given"))
        made = folder / "made"
        made.mkdir()
        damaged = given / rng.choice(["measurements", "release"]) if is_whole_output else given
        damaged = damaged if damaged.is_dir() else given
        is_forged = not is_whole_output and rng.random() < _FORGED
        done = _damage(damaged, rng, is_output=is_whole_output)
        if is_forged:
            done = f"forged, {done}"
            _with_new_checksums(given)
        commands = (
            whole_output_commands(given, made / "new", self.geography)
            if is_whole_output
            else reading_commands(given, made / "new")
        )
        ending = ended(lambda: _codes_written(commands, given, is_release=not is_whole_output))
        found = wrong_ending(ending, 0)
        for line in ending.stdout.splitlines():
            if line.startswith("CODE "):
                _, command, code = line.split()
                allowed = ("0", "1") if is_forged else ("1",)
                if code not in allowed:
                    found.append(f"{command} ends with {code}")
                if code != "0" and list(made.glob(f"new-{command}*")):
                    found.append(f"{command} left something")
        if ending.stdout.count("CODE ") < len(commands):
            found.append("not every command came to an end")
        return [f"{kind}{' OUT' if is_whole_output else ''}, {done}: {one}" for one in found]


def commands_of(lines):
    """The words of each command, by its first word."""
    return {words[0]: words for words in map(str.split, lines.splitlines())}


def reading_commands(release, new):
    return commands_of(f"""show {release} --state 44
        status {release}
        report {release} -o {new}-report.html
        export {release} {new}-export
        site {release} {new}-site""")


def whole_output_commands(out, new, geography):
    return commands_of(f"""rerelease {out} {new}-rerelease
        coterminous {out} {new}-coterminous --geography {geography}""")


def _codes_written(commands, given, *, is_release):
    for name, arguments in commands.items():
        code = code_of_command(arguments)
        sys.stdout.write(f"\nCODE {name} {code}\n")
    if is_release:
        try:
            safetab.open_release(given)
            code = 0
        except InvalidInput:
            code = 1
        sys.stdout.write(f"\nCODE open_release {code}\n")
    return 0


def _with_new_checksums(release):
    sums = release / CHECKSUMS_FILE
    if sums.is_symlink() or not sums.is_file():
        return
    if all(path.is_dir() or (path.is_file() and not path.is_symlink()) for path in release.rglob("*")):
        write_checksums(release)


def _damage(folder, rng, *, is_output):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path, other = rng.sample(files, 2)
    name, content = path.relative_to(folder), path.read_bytes()
    which = rng.randrange(12)
    if which == 0:
        path.unlink()
        return f"{name} removed"
    if which == 1:
        path.unlink()
        path.symlink_to(other)
        return f"{name} a link"
    if which == 2:
        path.unlink()
        os.mkfifo(path)
        return f"{name} a pipe"
    if which == 3:
        if other.read_bytes() == content:
            return _changed(path, name, content, rng)
        path.write_bytes(other.read_bytes())
        return f"{name} is {other.relative_to(folder)}"
    if which == 4 and not is_output:  # more than was written is no damage to an output, of which only the known is read
        path.with_name(f"{path.stem}-2{path.suffix}").write_bytes(content)
        return f"a copy of {name}"
    if which == 5:
        path.rename(path.with_name(f"x{path.name}"))
        return f"{name} renamed"
    if which == 6:
        path.unlink()
        path.mkdir()
        return f"{name} a folder"
    return _changed(path, name, content, rng)


def _changed(path, name, content, rng):
    mutation = "another_table"
    if path.suffix == ".parquet" and rng.random() < 0.5:
        another_table(path, rng)
    else:
        chosen = another_json if path.suffix == ".json" and rng.random() < 0.6 else rng.choice((*BYTES, *LINES))
        path.write_bytes(chosen(content, rng))
        mutation = chosen.__name__
    while path.read_bytes() == content:
        path.write_bytes(one_bit(content, rng))
        mutation = "one_bit"
    return f"{name} {mutation}"
