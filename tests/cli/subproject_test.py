"""A project that includes this one with add_subdirectory: it configures, and what is built finds its files.

usage: subproject_test.py ROOT
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
OUTER = """
cmake_minimum_required(VERSION 3.25)
project(outer LANGUAGES CXX)
add_subdirectory({root} inner)
add_library(user STATIC user.cc)
target_link_libraries(user PRIVATE portolan_base)
"""
USER = """
#include "base/result.h"

portolan::Status Nothing() { return {}; }
"""


class Subproject(unittest.TestCase):
    def test_configures_and_builds_a_target(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "CMakeLists.txt").write_text(OUTER.replace("{root}", str(ROOT)))
            (folder / "user.cc").write_text(USER)

            def cmake(*words):
                done = subprocess.run(["cmake", *words], cwd=folder, capture_output=True, text=True, timeout=280)
                self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])

            cmake("-G", "Ninja", "-S", ".", "-B", "out")
            # Its own header and one of the program's, without the libraries behind them.
            cmake("--build", "out", "--target", "CMakeFiles/user.dir/user.cc.o", "portolan_build_info")
            info = folder / "out" / "inner" / "generated" / "cli" / "build_info.h"
            self.assertIn("PORTOLAN_VERSION", info.read_text())
            self.assertEqual((folder / "out" / "inner" / "modules.tsv").exists(), True)
            self.assertIn("base\tsrc/base\t", (folder / "out" / "inner" / "modules.tsv").read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
