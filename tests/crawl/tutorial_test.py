"""Runs docs/tutorial.md as it is: each block of commands in one shell, its output compared with the block below it.

usage: tutorial_test.py PORTOLAN ROOT

A ```sh block is what a reader types; the ```text block after it is what the reader should see: '…' stands for anything
within a line, a line '…' for any lines. The tutorial's port 8000 is replaced by a free one, and ./portolan is PORTOLAN.
"""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "end-of-block"


def blocks(text):
    """Pairs of commands and what they should print (None: anything)."""
    pairs = []
    for kind, body in BLOCK.findall(text):
        if kind == "sh":
            pairs.append([body, None])
        else:
            assert pairs and pairs[-1][1] is None, f"output without its command:\n{body}"
            pairs[-1][1] = body
    return pairs


def pattern(expected):
    lines = []
    for line in expected.splitlines():
        lines.append(r"(?:.*\n)*?" if line.strip() == "…" else ".*?".join(map(re.escape, line.rstrip().split("…"))) + r"\s*\n")
    return re.compile("".join(lines) + r"\Z")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def main():
    program, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    text = (root / "docs" / "tutorial.md").read_text().replace("8000", free_port())
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "portolan").symlink_to(program)
        shell = subprocess.Popen(["bash"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                 env=dict(os.environ, LC_ALL="C.UTF-8"))
        try:
            for commands, expected in blocks(text):
                shell.stdin.write(commands + f"\necho {END}\n")
                shell.stdin.flush()
                shown = ""
                while (line := shell.stdout.readline()) and line.strip() != END:
                    shown += line
                assert line, f"the shell ended in:\n{commands}\n{shown}"
                print(f"$ {commands}{shown}", flush=True)
                if expected is not None and not pattern(expected).match(shown):
                    sys.exit(f"the tutorial shows something else:\n{expected}")
        finally:
            os.killpg(shell.pid, signal.SIGKILL)  # the shell and what it left running, the site's server first of all
            shell.wait()


if __name__ == "__main__":
    main()
