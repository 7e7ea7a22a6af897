"""Fails when a *_test.cc is in no test program, so that no test is ever silently left out.

usage: check_tests.py ROOT TEST_SOURCES_TXT     (CMake writes the list of sources that are in targets)
"""

import pathlib
import sys

SKIP = {"build", "node_modules", ".git"}


def check(root, listed):
    found = set()
    for path in root.rglob("*_test.cc"):
        rel = path.relative_to(root)
        if rel.parts[0] not in SKIP:
            found.add(rel.as_posix())
    offences = [f"{path}: in no test target" for path in sorted(found - listed)]
    offences += [f"{path}: in a target, but not on disk" for path in sorted(listed - found)]
    return offences


def main():
    root, listing = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    listed = {line.strip() for line in listing.read_text().splitlines() if line.strip()}
    offences = check(root, listed)
    for offence in offences:
        print(offence)
    if not offences:
        print(f"{len(listed)} test sources, all in targets")
    return 1 if offences or not listed else 0


if __name__ == "__main__":
    sys.exit(main())
