"""How long the site of a release of national size takes, and how much memory.

`python -m tools.benchmarks.site [GROUPS]` takes the made-up release of `release`, of three million
groups; `--keep FOLDER` leaves it and its site there.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import tempfile
from pathlib import Path

from safetab.core.privacy.output_status import OutputStatus
from safetab.release.files.checksums import write_checksums
from safetab.release.files.documents import ReleaseFacts
from safetab.release.files.release_options import ReleaseOptions
from safetab.release.files.release_universe import universe_of_run
from safetab.release.files.write_release import write_release
from tools.benchmarks.release import big_plan, write_measurements

BUILD = """
import resource, sys
from pathlib import Path
from safetab.apps.website.write_site import write_site
made = write_site(Path(sys.argv[1]), Path(sys.argv[2]), overwrite=True)
spent = resource.getrusage(resource.RUSAGE_SELF)
print(f"{made.numbers:,} numbers in {made.files:,} files, {made.bytes_in_all / 1e6:.0f} MB,", \
end=" ")
print(f"the largest {made.bytes_of_largest / 1e6:.2f} MB:", end=" ")
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  \
# of this process, not its parent
print(f"{spent.ru_utime + spent.ru_stime:.1f} CPU s, {int(peak.split()[1]) // 1024:,} MB of memory")
"""


def made_up_release(folder: Path, groups: int) -> Path:
    files, plan = big_plan(folder / "census")
    output = folder / "out"
    write_measurements(output, plan, groups)
    universe = universe_of_run(plan, files.geography_of_pass, {})
    facts = ReleaseFacts("0", datetime.date(2020, 4, 1), OutputStatus.SYNTHETIC, ReleaseOptions())
    write_release(output, universe, facts, files.geography_of_pass)
    write_checksums(output / "release")
    return output


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("groups", type=int, nargs="?", default=3_000_000)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        output = made_up_release(folder, asked.groups)
        subprocess.run([sys.executable, "-c", BUILD, str(output), str(folder / "site")], check=True)


if __name__ == "__main__":
    main()
