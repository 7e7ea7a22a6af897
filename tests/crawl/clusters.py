"""What the tests of crawls on several nodes share: a nats-server of the test's own, and looking at processes."""

import json
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import crawls

# What a test starts ends with it, also if it is killed, and does not hold its output open.
LEASHED = ["setpriv", "--pdeathsig", "KILL"]
SERVER = shutil.which("nats-server") or "/usr/sbin/nats-server"


def installed():
    return pathlib.Path(SERVER).exists()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Nats:
    """nats-server on a loopback port, with a directory that survives kill and start."""

    def __init__(self, folder, *flags, jetstream=True, user="", scheme="nats", client=()):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.flags = [str(flag) for flag in flags]
        if jetstream:
            self.flags += ["-js", "-sd", str(self.folder / "store")]
        self.port = free_port()
        self.url = f"{scheme}://{user + '@' if user else ''}127.0.0.1:{self.port}"
        self.client = ["--nats", self.url, *client]  # how verbs reach it
        self.process = None

    def start(self):
        self.process = subprocess.Popen([*LEASHED, SERVER, "-a", "127.0.0.1", "-p", str(self.port), "-l",
                                         str(self.folder / "log"), *self.flags], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        crawls.wait_until(self.answers, 20, "nats-server answers")
        return self

    def answers(self):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def put(self, key, value, cluster="test"):
        """A key of the cluster's bucket gets this value, as if another program had written it."""
        with socket.create_connection(("127.0.0.1", self.port), 10) as one, one.makefile("rb") as answers:
            answers.readline()  # INFO
            one.sendall(b'CONNECT {"verbose":false}\r\nSUB inbox 1\r\n' +
                        f"PUB $KV.portolan-{cluster}.{key} inbox {len(value)}\r\n{value}\r\n".encode())
            answers.readline()  # MSG
            answer = json.loads(answers.readline())
        assert "error" not in answer, answer

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()


class Node:
    """portolan node, in the background."""

    def __init__(self, program, nats, folder, name, *flags, cluster="test"):
        self.dir = pathlib.Path(folder) / name
        self.name = name
        self.dir.parent.mkdir(exist_ok=True)
        self.log = pathlib.Path(folder) / f"{name}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(part) for part in [*LEASHED, program, "node", "--cluster", cluster, *nats.client, "--dir", self.dir,
                                        "--name", name, "--json", *flags]],
                stdout=subprocess.PIPE, stderr=log, text=True)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self, timeout=60):
        """Exit code, summary and messages."""
        out, _ = self.process.communicate(timeout=timeout)
        return self.process.returncode, json.loads(out) if out.strip() else None, self.log.read_text()

    def kill(self):
        self.process.kill()
        self.process.communicate()


def children(pid):
    """The child processes of a process, as (pid, words of the command line)."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            words = (stat.parent / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except (OSError, IndexError):
            continue
        if parent == pid and words[0]:
            found.append((int(stat.parent.name), words))
    return found


def is_gone(pid):
    """It ended, or waits for somebody to take notice."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def shard_dirs(directory):
    return sorted(path for path in pathlib.Path(directory).glob("**/shard-*") if (path / "crawl.toml").exists())


def status(program, nats, cluster="test"):
    done = crawls.run(program, "cluster", "status", "--cluster", cluster, *nats.client, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
