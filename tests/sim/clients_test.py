"""Other programs as clients of the simulated web: curl and wget2, unchanged.

usage: clients_test.py PORTOLAN

wget2 finds names by the system's resolver, so it runs in a network and mount namespace of its own, in which the
simulated web has the real ports and /etc/resolv.conf names it. Where namespaces are not allowed that part is skipped,
visibly.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

PROGRAM = sys.argv.pop(1)

# Runs as the first process of the namespaces: brings up loopback, serves, crawls, ends the server.
INSIDE = r"""
set -eu
ip link set lo up
printf 'nameserver 127.0.0.1\noptions timeout:1 attempts:2\n' > "$DIR/resolv.conf"
mount --bind "$DIR/resolv.conf" /etc/resolv.conf
printf 'hosts: dns\n' > "$DIR/nsswitch.conf"
mount --bind "$DIR/nsswitch.conf" /etc/nsswitch.conf
"$PROGRAM" sim serve --profile small --set change_days=0 --privileged --log "$DIR/hits.tsv" --ca "$DIR/ca.pem" \
    --max-seconds 200 > "$DIR/ready.json" 2> "$DIR/serve.txt" &
server=$!
for i in $(seq 200); do
  [ -s "$DIR/ready.json" ] && break
  kill -0 $server || { cat "$DIR/serve.txt"; exit 1; }
  sleep 0.1
done
seed=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["seeds"][0])' "$DIR/ready.json")
mkdir "$DIR/crawl"
(cd "$DIR/crawl" && wget2 --quiet --recursive --level=inf --span-hosts --robots=on --no-hsts --no-cookies \
    --tries=2 --timeout=10 --ca-certificate="$DIR/ca.pem" --user-agent=wget2 "$seed") || echo "wget2: exit $?"
kill -TERM $server
wait $server
"""


def hits_of(path):
    """The H lines: dictionaries."""
    names = ("unix_ns", "connection", "address", "host", "tls", "method", "path", "status", "bytes", "end_ns", "agent",
             "http")
    rows = []
    for line in pathlib.Path(path).read_text().splitlines():
        kind, *fields = line.split("\t")
        if kind == "H":
            row = dict(zip(names, fields, strict=True))
            row["path"] = urllib.parse.unquote_to_bytes(row["path"]).decode("latin-1")
            rows.append(row)
    return rows


class Server:
    """`portolan sim serve` on free ports, ended by SIGTERM."""

    def __init__(self, folder, *flags):
        self.log = os.path.join(folder, "hits.tsv")
        self.ca = os.path.join(folder, "ca.pem")
        self.process = subprocess.Popen([PROGRAM, "sim", "serve", "--log", self.log, "--ca", self.ca, "--max-seconds",
                                         "120", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.ready = json.loads(line) if line else {}

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors

    def curl(self, url, *flags):
        parts = urllib.parse.urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        return subprocess.run(["curl", "-sS", "--max-time", "30", "--cacert", self.ca, "--resolve",
                               f"{parts.hostname}:{port}:127.0.0.1", *flags, url], capture_output=True, timeout=60)


class Curl(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_pages_robots_and_missing_ones(self):
        server = Server(self.folder.name, "--profile", "small", "--seed", "5")
        self.assertTrue(server.ready["ready"])
        seed = server.ready["seeds"][0]
        page = server.curl(seed)
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertIn(b"<a href", page.stdout.lower())
        for extra, status in (("robots.txt", b"200"), ("no/such/page", b"404")):
            result = server.curl(seed + extra, "-o", "/dev/null", "-w", "%{http_code}")
            if extra == "robots.txt":
                self.assertIn(result.stdout, (b"200", b"404"))
            else:
                self.assertEqual(result.stdout, status)
        head = server.curl(seed, "--head")
        self.assertEqual(head.returncode, 0)
        self.assertIn(f"content-length: {len(page.stdout)}".encode(), head.stdout.lower())
        code, errors = server.end()
        self.assertEqual(code, 0, errors)
        self.assertIn("serving 'small'", errors)
        hits = hits_of(server.log)
        self.assertEqual(len(hits), 4)
        self.assertEqual(hits[0]["path"], "/")
        self.assertEqual(hits[0]["method"], "GET")
        self.assertTrue(hits[0]["agent"].startswith("curl/"))

    def test_http2_over_tls(self):
        server = Server(self.folder.name, "--profile", "small", "--set", "https=1", "--set", "bad_certificate=0")
        seed = next(s for s in server.ready["seeds"])
        if not seed.startswith("https"):
            # The first host may be plain whatever the share is: it says itself where its pages are.
            found = server.curl(seed).stdout.decode("latin-1")
            at = found.find("https://")
            self.assertGreaterEqual(at, 0, "no https link")
            seed = found[at:].split('"')[0].split("'")[0].split(">")[0].split()[0]
        for flag, version in (("--http2", b"2"), ("--http1.1", b"1.1")):
            result = server.curl(seed, flag, "-o", "/dev/null", "-w", "%{http_version} %{ssl_verify_result}")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout, version + b" 0")
        # Without the CA no host is trusted.
        result = server.curl(seed, "--cacert", "/dev/null")
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(server.end(signal.SIGINT)[0], 0)

    def test_bodies_are_equal_over_all_protocols(self):
        server = Server(self.folder.name, "--profile", "small", "--set", "change_days=0")
        seed = server.ready["seeds"][0]
        one = server.curl(seed)
        kept = server.curl(seed, "--next", "-sS", "--resolve", "*:0:127.0.0.1", seed)
        self.assertEqual(kept.stdout[:len(one.stdout)], one.stdout)
        old = server.curl(seed, "--http1.0")
        self.assertEqual(old.stdout, one.stdout)
        server.end()

    def test_same_seed_same_web(self):
        bodies = []
        for name in ("a", "b"):
            folder = os.path.join(self.folder.name, name)
            os.mkdir(folder)
            server = Server(folder, "--profile", "small", "--seed", "9", "--set", "change_days=0")
            page = server.curl(server.ready["seeds"][0]).stdout
            bodies.append(page.replace(str(server.ready["http_port"]).encode(), b"PORT"))
            server.end()
        self.assertEqual(bodies[0], bodies[1])

    def test_seeds_are_many_home_pages(self):
        seeds = pathlib.Path(self.folder.name, "seeds.txt")
        server = Server(self.folder.name, "--profile", "small", "--seeds", "5", "--seeds-file", str(seeds))
        urls = server.ready["seeds"]
        self.assertEqual(len(set(urls)), 5)
        self.assertEqual(seeds.read_text().splitlines(), urls)
        for url in urls:
            self.assertEqual(urllib.parse.urlsplit(url).path, "/")
            self.assertEqual(server.curl(url, "-o", "/dev/null", "-w", "%{http_code}").stdout, b"200")
        server.end()
        server = Server(self.folder.name, "--profile", "small", "--seeds", "1000")
        self.assertEqual(len(server.ready["seeds"]), 8)  # it has no more
        server.end()

    def test_seeds_can_be_piped(self):
        process = subprocess.Popen([PROGRAM, "sim", "serve", "--profile", "small", "--seeds", "3", "--seeds-file", "-",
                                    "--max-seconds", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = process.stdout.read().splitlines()  # to the end, while the server goes on
        self.assertIsNone(process.poll())
        ready = json.loads(process.stderr.readline())
        self.assertEqual(lines, ready["seeds"])
        self.assertEqual(len(lines), 3)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_mistakes_are_said_in_one_line(self):
        for flags, word in ((("--profile", "smal"), "small"), (("--set", "domains"), "KEY=VALUE"),
                            (("--set", "domainz=3"), "domains"), (("--dns-port", "99999"), "dns-port"),
                            (("--log", "/dev/null/x"), "/dev/null/x")):
            result = subprocess.run([PROGRAM, "sim", "serve", *flags, "--max-seconds", "1"], capture_output=True,
                                    text=True, timeout=60)
            self.assertNotEqual(result.returncode, 0, flags)
            self.assertEqual(result.stdout, "", flags)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn(word, result.stderr)


def namespaces_work():
    command = ["unshare", "--mount", "--net", "sh", "-c", "ip link set lo up"]
    if os.geteuid() != 0:
        command[1:1] = ["--user", "--map-root-user"]
    try:
        return subprocess.run(command, capture_output=True, timeout=20).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


class Wget2(unittest.TestCase):
    @unittest.skipUnless(shutil.which("wget2"), "wget2 is not installed")
    @unittest.skipUnless(shutil.which("unshare") and shutil.which("ip"), "no unshare or ip here")
    def test_crawls_the_small_profile_whole(self):
        if not namespaces_work():
            self.skipTest("namespaces are not allowed here")
        with tempfile.TemporaryDirectory() as folder:
            command = ["unshare", "--mount", "--net", "sh", "-c", INSIDE]
            if os.geteuid() != 0:
                command[1:1] = ["--user", "--map-root-user"]
            result = subprocess.run(command, capture_output=True, text=True, timeout=280,
                                    env={**os.environ, "DIR": folder, "PROGRAM": os.path.abspath(PROGRAM)})
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            ready = json.loads(pathlib.Path(folder, "ready.json").read_text())
            hits = hits_of(os.path.join(folder, "hits.tsv"))
            pages = {(h["host"], h["path"]) for h in hits
                     if h["status"] == "200" and h["path"] != "/robots.txt" and not h["path"].startswith("/sitemap")}
            # wget2 leaves "&amp;" in links as it is, does not read "\\" as "/" and takes "?x" to be relative to the
            # folder, so it misses pages that are linked in no other way.
            self.assertGreaterEqual(len(pages), 0.95 * ready["pages"], result.stdout)
            self.assertEqual({h["agent"] for h in hits}, {"wget2"})
            hosts = {h["host"] for h in hits}
            self.assertGreaterEqual(len(hosts), 8)
            log = pathlib.Path(folder, "hits.tsv").read_text().splitlines()
            asked = {line.split("\t")[2] for line in log if line.startswith("D\t")}
            self.assertLessEqual(hosts, asked)
            # Every connection that was opened is closed in the log.
            self.assertEqual(sum(line.startswith("O\t") for line in log), sum(line.startswith("C\t") for line in log))


if __name__ == "__main__":
    unittest.main(verbosity=2)
