"""The repository checks find each fault they are there for: a small tree is made with one fault at a time."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "tests" / "layering"))

import check_includes  # noqa: E402
import check_tests  # noqa: E402
import check_words  # noqa: E402

MODULES = {
    "base": {"folder": "src/base", "deps": set(), "test_deps": set()},
    "io": {"folder": "src/io", "deps": {"base"}, "test_deps": set()},
    "disk": {"folder": "src/disk", "deps": {"io"}, "test_deps": set()},
    "cli": {"folder": "src/cli", "deps": {"disk"}, "test_deps": set()},
    "world": {"folder": "sim/world", "deps": {"base"}, "test_deps": set()},
}
GOOD = {
    "src/base/a.h": "// A.\n#pragma once\n",
    "src/io/b.cc": '#include "base/a.h"\n#include <unistd.h>\n',
    "src/disk/c.cc": '#include "base/a.h"\n',
    "src/cli/d.cc": '#include "sim/world/w.h"\n',
    "sim/world/w.h": "// W.\n#pragma once\n",
}


def tree(changes):
    root = pathlib.Path(tempfile.mkdtemp())
    for rel, text in {**GOOD, **changes}.items():
        (root / rel).parent.mkdir(parents=True, exist_ok=True)
        (root / rel).write_text(text)
    return root


failures = 0


def expect(what, offences, fragment):
    global failures
    good = not offences if fragment is None else len(offences) == 1 and fragment in offences[0]
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {offences}"))
    failures += not good


modules = {**MODULES, "cli": {**MODULES["cli"], "deps": {"disk", "world"}}}
includes = lambda changes: check_includes.check(tree(changes), modules)
expect("a good tree passes", includes({}), None)
expect("an upward include", includes({"src/base/a.cc": '#include "io/b.h"\n', "src/io/b.h": "// B.\n"}), "'base' does not declare 'io'")
expect("a missing file", includes({"src/io/x.cc": '#include "base/none.h"\n'}), "no such file")
expect("a system header outside io", includes({"src/disk/x.cc": "#include <fcntl.h>\n"}), "may talk to the system")
expect("sim seen from a stage", includes({"src/disk/x.cc": '#include "sim/world/w.h"\n'}), "only cli/ may see sim/")
expect("bench seen from src", includes({"src/io/x.cc": '#include "bench/benchmark.h"\n'}), "may see bench/ or tests/")
expect("a file in no module", includes({"src/lost/x.cc": "\n"}), "belongs to no module")
circle = {**modules, "base": {**modules["base"], "deps": {"disk"}}}
expect("a circle", check_includes.check(tree({}), circle)[:1], "depends on itself")

root = tree({"src/io/b_test.cc": "\n"})
expect("a test in no target", check_tests.check(root, set()), "in no test target")
expect("a listed test", check_tests.check(root, {"src/io/b_test.cc"}), None)

words = lambda rel, text: check_words.check(tree({rel: text}), [rel])
expect("a blank at a line's end", words("src/io/x.cc", "int a; \n"), "blanks at the end")
expect("a tab", words("src/io/x.cc", "\tint a;\n"), "a tab")
expect("a sleep", words("src/io/x.cc", "usleep(5);\n"), "sleeps")
expect("a header without a first line", words("src/io/x.h", "#pragma once\n"), "begins with what it is")
expect("a long file", words("src/io/x.cc", "int a;\n" * 801), "more than 800")
sys.exit(1 if failures else 0)
