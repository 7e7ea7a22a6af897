"""Compares every #include with the dependencies that the modules declare.

usage: check_includes.py ROOT MODULES_TSV

MODULES_TSV has one row per module: name, folder, its DEPS, its TEST_DEPS (CMake writes it). A file may include its own
module, the DEPS, what those reach, and in *_test.cc the TEST_DEPS. Apart from modules there are three rules:
  - headers of the operating system only in io/ and in code that runs whole programs (SYSTEM_ALLOWED);
  - nothing in src/ but cli/ includes sim/, and nothing in src/ or sim/ includes bench/ or tests/;
  - a quoted include names a file that exists.
Exit code 1 and a line per offence, naming file, line and rule.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SYSTEM_HEADERS = re.compile(r"^(unistd|fcntl|dirent|poll|netdb|signal|termios|uv|pthread)\.h$|^(sys|arpa|netinet|net)/|^(csignal|filesystem|fstream)$")
SYSTEM_ALLOWED = {"io", "cli", "fetch", "serve", "cluster", "search"}
GENERATED = {"cli/build_info.h"}


def read_modules(path):
    modules = {}
    for line in path.read_text().splitlines():
        if not line.strip():
            continue
        name, folder, deps, test_deps = (line.split("\t") + ["", "", ""])[:4]
        modules[name] = {"folder": folder, "deps": set(deps.split()), "test_deps": set(test_deps.split())}
    return modules


def reach(modules, name, seen=None):
    seen = set() if seen is None else seen
    for dep in modules[name]["deps"]:
        if dep not in seen:
            seen.add(dep)
            reach(modules, dep, seen)
    return seen


def module_of(modules, path):
    """The module whose folder holds `path`, longest folder first."""
    best = None
    for name, module in modules.items():
        folder = module["folder"] + "/"
        if path.startswith(folder) and (best is None or len(folder) > len(modules[best]["folder"]) + 1):
            best = name
    return best


def check(root, modules):
    offences = []
    for name in modules:
        for dep in modules[name]["deps"] | modules[name]["test_deps"]:
            if dep not in modules:
                offences.append(f"{modules[name]['folder']}/CMakeLists.txt: module '{name}' depends on unknown '{dep}'")
        if name in reach(modules, name):
            offences.append(f"{modules[name]['folder']}/CMakeLists.txt: module '{name}' depends on itself")
    for top in ("src", "sim"):
        for path in sorted((root / top).rglob("*")) if (root / top).is_dir() else []:
            if path.suffix not in (".cc", ".h"):
                continue
            rel = path.relative_to(root).as_posix()
            owner = module_of(modules, rel)
            if owner is None:
                offences.append(f"{rel}:1: belongs to no module: its folder has no portolan_module()")
                continue
            allowed = {owner} | reach(modules, owner)
            if rel.endswith("_test.cc"):
                for dep in modules[owner]["test_deps"]:
                    allowed |= {dep} | reach(modules, dep)
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                found = INCLUDE.match(line)
                if not found:
                    continue
                quote, target = found.groups()
                where = f"{rel}:{number}: includes {target}"
                if quote == "<":
                    if SYSTEM_HEADERS.match(target) and owner not in SYSTEM_ALLOWED and top == "src" \
                            and not rel.endswith("_test.cc"):
                        offences.append(f"{where}: only {', '.join(sorted(SYSTEM_ALLOWED))} may talk to the system")
                    continue
                if target in GENERATED:
                    continue
                if target.startswith(("bench/", "tests/")):
                    offences.append(f"{where}: nothing in {top}/ may see bench/ or tests/")
                    continue
                if target.startswith("sim/"):
                    if top == "src" and owner != "cli":
                        offences.append(f"{where}: in src/ only cli/ may see sim/")
                        continue
                    file = target
                else:
                    file = "src/" + target
                if not (root / file).is_file():
                    offences.append(f"{where}: no such file (includes are written from src/)")
                    continue
                other = module_of(modules, file)
                if other not in allowed:
                    offences.append(
                        f"{where}: module '{owner}' does not declare '{other}' (its DEPS: "
                        f"{' '.join(sorted(modules[owner]['deps'])) or 'none'})")
    return offences


def main():
    root, table = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    modules = read_modules(table)
    if not modules:
        print(f"{table}: no modules")
        return 1
    offences = check(root, modules)
    for offence in offences:
        print(offence)
    if not offences:
        print(f"{len(modules)} modules, every include is declared")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
