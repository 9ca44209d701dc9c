"""Count the instructions of some kernels and compare them with what they were, which a busy machine cannot disturb.

``python benches/instructions.py`` fails if a kernel takes over five percent more than ``benches/instructions.json``
says; with ``--renew`` it writes that file, after a change that is meant to cost more, or that costs less. Counts are
those of one compiler: with another one, or without valgrind, the check says so and ends well.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORDED = Path(__file__).with_suffix(".json")
MOST = 1.05


def output(*command: str | Path) -> str:
    """Run a program; return what it printed, errors included."""
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def counted(program: Path, kernel: str) -> int:
    """Count the instructions of one kernel."""
    inside = "--toggle-collect=*kernels::measured*"
    printed = output("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", inside, program, kernel)
    found = re.search(r"Collected : (\d+)", printed)
    if found is None or int(found[1]) == 0:
        sys.exit(f"{kernel}: callgrind counted nothing")
    return int(found[1])


def main() -> None:
    """Count, then compare or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--renew", action="store_true", help="write the counts instead of comparing them")
    renew = parser.parse_args().renew
    for tool in ("cargo", "valgrind"):
        if shutil.which(tool) is None:
            print(f"instructions are not counted: {tool} is not installed")
            return
    compiler = output("rustc", "--version").strip()
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {"compiler": None, "kernels": {}}
    if not renew and recorded["compiler"] is None:
        print(f"instructions are not compared: there is no {RECORDED.name}; --renew writes it")
        return
    if not renew and recorded["compiler"] != compiler:
        print(f"instructions are not compared: they were counted with {recorded['compiler']}, and this is {compiler}")
        return
    build = ["cargo", "build", "--release", "--package", "nominym-core", "--example", "kernels"]
    messages = output(*build, "--quiet", "--message-format=json")
    made = [json.loads(line) for line in messages.splitlines() if line.startswith("{")]
    program = next(Path(m["executable"]) for m in made if m.get("executable"))
    counts = {kernel: counted(program, kernel) for kernel in output(program).split()}
    if renew:
        RECORDED.write_text(json.dumps({"compiler": compiler, "kernels": counts}, indent=2) + "\n")
    grown = []
    for kernel, count in counts.items():
        before = recorded["kernels"].get(kernel)
        ratio = f"{count / before:.3f} of {before:,}" if before else "new"
        print(f"{kernel:16} {count:15,} instructions, {ratio}")
        if before is None or count > MOST * before:
            grown.append(kernel)
    if grown and not renew:
        sys.exit(f"more instructions than before: {', '.join(grown)}; if that is meant, run this with --renew")


if __name__ == "__main__":
    main()
