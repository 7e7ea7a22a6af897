"""Small rules about the text of the repository, checked by scripts/lint.

usage: check_words.py ROOT

  - a file of src/ or sim/ has at most 800 lines (generated tables excepted: they say so in their first line);
  - no tabs, no blanks at the end of a line, a line end at the end of the file;
  - every header begins with a comment that says what it is, and has #pragma once;
  - nothing in src/ sleeps: events and timers instead.
"""

import pathlib
import re
import subprocess
import sys

MAX_LINES = 800
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(")


def check(root, files):
    offences = []
    for rel in files:
        path = root / rel
        if not path.is_file() or path.suffix not in (".cc", ".h", ".py", ".cmake", ".md") and path.name != "CMakeLists.txt":
            continue
        text = path.read_text(errors="replace")
        lines = text.splitlines()
        generated = bool(lines) and "generated" in lines[0].lower()
        if text and not text.endswith("\n"):
            offences.append(f"{rel}:{len(lines)}: no line end at the end of the file")
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                offences.append(f"{rel}:{number}: blanks at the end of the line")
            if "\t" in line:
                offences.append(f"{rel}:{number}: a tab")
            if rel.startswith("src/") and not rel.endswith("_test.cc") and SLEEP.search(line.split("//")[0]):
                offences.append(f"{rel}:{number}: sleeps; use an event or a timer")
        if rel.startswith(("src/", "sim/")) and len(lines) > MAX_LINES and not generated:
            offences.append(f"{rel}: {len(lines)} lines, more than {MAX_LINES}")
        if path.suffix == ".h" and rel.startswith(("src/", "sim/")):
            if not lines or not lines[0].startswith("// "):
                offences.append(f"{rel}:1: a header begins with what it is")
            if "#pragma once" not in text:
                offences.append(f"{rel}:1: no #pragma once")
    return offences


def main():
    root = pathlib.Path(sys.argv[1])
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, text=True, check=True).stdout
    offences = check(root, listing.splitlines())
    for offence in offences:
        print(offence)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
