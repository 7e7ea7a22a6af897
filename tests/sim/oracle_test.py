"""The oracle's account of real clients on real sockets: a script that breaks known rules, and wget2.

usage: oracle_test.py PORTOLAN

The part with wget2 needs network and mount namespaces of its own (root); it is skipped where there are none.
"""

import collections
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None
WORLD = ["--seed", "3", "--set", "robots_rules=1", "--set", "restricted_pages=0.3", "--set", "change_days=0"]
GAP_S = 1.0


class Server:
    """portolan sim serve, ready to be visited."""

    def __init__(self, log, *flags):
        command = [PROGRAM, "sim", "serve", "--log", str(log), "--max-seconds", "120", *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.ready = json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        self.process.stdout.close()

    def resolve(self, name):
        """The first IPv4 address that the simulated DNS gives."""
        question = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0)
        question += b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0\0\1\0\1"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.settimeout(10)
            udp.sendto(question, ("127.0.0.1", self.ready["dns_port"]))
            answer = udp.recv(2000)
        count = struct.unpack(">H", answer[6:8])[0]
        at = len(question)
        for _ in range(count):
            kind, _, _, size = struct.unpack(">HHIH", answer[at + 2 : at + 12])
            if kind == 1:
                return socket.inet_ntoa(answer[at + 12 : at + 12 + size])
            at += 12 + size
        raise AssertionError(f"no address for {name}")


class Client:
    """Asks politely: a new connection each time, a second after the last request began."""

    def __init__(self, server):
        self.server = server
        self.last = 0
        self.addresses = {}

    def connect(self, host):
        if host not in self.addresses:
            self.addresses[host] = self.server.resolve(host)
        return socket.create_connection((self.addresses[host], self.server.ready["http_port"]), timeout=20)

    def wait(self):
        time.sleep(max(0, self.last + GAP_S + 0.1 - time.monotonic()))

    def get(self, url, hasty=False):
        parts = urllib.parse.urlsplit(url)
        path = parts.path + ("?" + parts.query if parts.query else "")
        if not hasty:
            self.wait()
        with self.connect(parts.hostname) as connection:
            self.last = time.monotonic()
            head = f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: portolan/0\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode())
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
        # The server has seen us go before we come again.
        return int(answer.split(b" ", 2)[1])


def check(log, *flags):
    command = [PROGRAM, "sim", "check", "--log", str(log), "--json", *flags]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    account = json.loads(result.stdout) if result.stdout else None
    return result.returncode, account, result.stderr


def violations(account):
    return {key[: -len("_violations")]: value for key, value in account.items() if key.endswith("_violations") and value}


def origin(url):
    return "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(url))


def plain(url):
    """Scheme and host in lower case, nothing escaped, no fragment."""
    scheme, _, rest = urllib.parse.unquote(url.split("#")[0]).partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}://{host.lower()}{slash}{path}"


RULES = ["--host-gap", str(GAP_S), "--connections", "1", "--ip-sockets", "1", "--max-fetches-per-url", "1"]


class ScriptedCrawl(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.log = pathlib.Path(self.folder.name) / "hits.tsv"

    def pages(self, *flags):
        """All reachable pages by origin: those not fetched yet."""
        missed = pathlib.Path(self.folder.name) / "missed"
        deadline = time.monotonic() + 20
        while True:
            code, _, error = check(self.log, "--missed", str(missed), *flags)
            if code == 0:
                break
            self.assertLess(time.monotonic(), deadline, error)  # the log's first line is on its way
        pages = collections.defaultdict(list)
        for url in missed.read_text().splitlines():
            pages[origin(url)].append(url)
        return pages

    def crawl(self, planted):
        with Server(self.log, "--profile", "small", *WORLD) as server:
            allowed = self.pages()
            everything = self.pages("--ignore-robots")
            forbidden = {site: sorted(set(everything[site]) - set(urls)) for site, urls in allowed.items()}
            first = next(site for site, urls in sorted(allowed.items()) if len(urls) >= 4 and forbidden[site])
            second = next(site for site, urls in sorted(allowed.items()) if len(urls) >= 2 and site != first)
            client = Client(server)
            # Names are asked for once each, before the requests.
            client.connect(urllib.parse.urlsplit(first).hostname).close()
            client.connect(urllib.parse.urlsplit(second).hostname).close()
            urls = allowed[first]
            statuses = [client.get(first + "/robots.txt"), client.get(urls[0]), client.get(urls[1])]
            if planted:
                statuses.append(client.get(urls[2], hasty=True))  # at once
                statuses.append(client.get(forbidden[first][0]))
                statuses.append(client.get(allowed[second][0]))  # before its robots.txt
                client.get(first + "/a-page-that-nobody-made")
                statuses.append(client.get(urls[0]))  # a second time
                client.wait()
                with client.connect(urllib.parse.urlsplit(first).hostname):  # beside the next one
                    statuses.append(client.get(urls[3]))
            statuses.append(client.get(second + "/robots.txt"))
            statuses.append(client.get(allowed[second][1]))
            self.assertEqual(set(statuses), {200})
        return check(self.log, *RULES)

    def test_planted_violations_are_found_and_no_others(self):
        code, account, error = self.crawl(planted=True)
        self.assertEqual(error, "")
        expected = {"host_gap": 1, "robots": 1, "robots_not_asked": 1, "unknown_url": 1, "repeat": 1, "sockets": 1}
        self.assertEqual(violations(account), expected, account["offences"])
        self.assertEqual(account["violations"], 6)
        self.assertEqual(code, 1)
        self.assertEqual(account["fetches"], 11)
        self.assertEqual(account["robots_fetches"], 2)
        self.assertEqual(account["dns_questions"], 2)
        self.assertEqual(account["max_dns_questions"], 1)
        self.assertEqual(account["pages_fetched"], 7)
        self.assertLess(account["min_host_gap_s"], GAP_S)
        self.assertEqual(len(account["offences"]), 6)

    def test_same_crawl_without_them_is_clean(self):
        code, account, error = self.crawl(planted=False)
        self.assertEqual(error, "")
        self.assertEqual(violations(account), {}, account["offences"])
        self.assertEqual(code, 0)
        self.assertEqual(account["fetches"], 5)
        self.assertEqual(account["fetched_of_reachable"], 3)
        self.assertEqual(account["missed"], account["reachable"] - 3)
        # Three pages are not all.
        code, account, _ = check(self.log, *RULES, "--complete")
        self.assertEqual(code, 1)
        self.assertEqual(violations(account), {"missed": account["missed"]})

    def test_unusable_logs(self):
        self.assertEqual(check(self.log)[0], 3)
        self.log.write_text("something else\n")
        code, account, error = check(self.log)
        self.assertEqual((code, account), (3, None))
        self.assertIn(str(self.log), error)
        self.log.write_text("W\t2\tsmall\t3\t\nH\tno number\n")
        self.assertEqual(check(self.log)[0], 3)


class Connections(unittest.TestCase):
    """Clients of which it is known how many connections they use at once, though every answer comes at once."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.log = pathlib.Path(self.folder.name) / "hits.tsv"

    def judge(self, **limits):
        flags = [word for name, limit in limits.items() for word in ("--" + name.replace("_", "-"), str(limit))]
        _, account, error = check(self.log, "--ignore-robots", *flags)
        self.assertEqual(error, "")
        return account

    def expect(self, count, key):
        """The figure is right, and so is the verdict for one less, for exactly so many and for one."""
        limit, figure = {"requests": ("connections", "max_in_progress"),
                         "open": ("open_connections", "open_connections_max")}[key]
        kind = {"requests": "parallel", "open": "open_connections"}[key]
        for allowed in {1, max(1, count - 1), count}:
            account = self.judge(**{limit: allowed})
            self.assertEqual(account[figure], count)
            self.assertEqual(violations(account), {kind: count - allowed} if count > allowed else {},
                             account["offences"])

    @staticmethod
    def waiting_requests(port):
        """Connections to the port that hold bytes which the server has not read."""
        count = 0
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            count += (int(fields[1].split(":")[1], 16) == port and fields[3] == "01" and
                      int(fields[4].split(":")[1], 16) > 0)
        return count

    def test_parallel_curl(self):
        count = 83
        with Server(self.log, "--profile", "small", *WORLD, "--set", "https=0") as server:
            seed = server.ready["seeds"][0]
            parts = urllib.parse.urlsplit(seed)
            port = server.ready["http_port"]
            config = f"resolve = {parts.hostname}:{port}:{server.resolve(parts.hostname)}\n"
            config += f"url = {seed}\noutput = /dev/null\n" * count
            # The server is paused until all requests wait for it, and then answers each within microseconds.
            server.process.send_signal(signal.SIGSTOP)
            try:
                curl = subprocess.Popen(["curl", "--silent", "--http1.1", "--parallel", "--parallel-immediate",
                                         "--parallel-max", str(count), "--max-time", "60", "--config", "-"],
                                        stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                curl.stdin.write(config)
                curl.stdin.close()
                deadline = time.monotonic() + 30
                while self.waiting_requests(port) < count:
                    self.assertLess(time.monotonic(), deadline, f"{self.waiting_requests(port)} requests came")
                    time.sleep(0.01)
            finally:
                server.process.send_signal(signal.SIGCONT)
            self.assertEqual(curl.wait(timeout=60), 0)
        account = self.judge()
        self.assertEqual((account["fetches"], account["statuses"]["2xx"]), (count, count))
        self.assertEqual(account["max_sockets"], count)
        self.expect(count, "requests")
        self.expect(count, "open")

    def ask(self, server, connection, host, path="/"):
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: portolan/0\r\n\r\n".encode())
        with connection.makefile("rb") as answer:
            status = int(answer.readline().split()[1])
            size = 0
            while (line := answer.readline().strip()):
                name, _, value = line.partition(b":")
                size = int(value) if name.lower() == b"content-length" else size
            self.assertEqual(len(answer.read(size)), size)
        return status

    def visit(self, plan):
        """Requests over kept connections, each after the last one's answer: `plan` names the connection of each."""
        with Server(self.log, "--profile", "small", *WORLD, "--set", "https=0") as server:
            host = urllib.parse.urlsplit(server.ready["seeds"][0]).hostname
            client = Client(server)
            connections = {}
            for name in plan:
                if name.isupper():  # the connection of this name is closed
                    connections.pop(name.lower()).close()
                    continue
                if name not in connections:
                    connections[name] = client.connect(host)
                self.assertEqual(self.ask(server, connections[name], host), 200)
            for connection in connections.values():
                connection.close()

    def test_kept_connections_one_after_another(self):
        self.visit("aaaaaAbbbbbBcccc")
        self.expect(1, "requests")
        self.expect(1, "open")

    def test_idle_connections_are_open_but_not_in_use(self):
        self.visit("abcabcabcabc")
        self.expect(1, "requests")
        self.expect(3, "open")

    def test_what_browsers_ask_by_themselves(self):
        with Server(self.log, "--profile", "small", *WORLD, "--set", "https=0") as server:
            host = urllib.parse.urlsplit(server.ready["seeds"][0]).hostname
            with Client(server).connect(host) as connection:
                for path in ("/favicon.ico", "/robots.txt", "/.well-known/security.txt", "/apple-touch-icon.png"):
                    self.ask(server, connection, host, path)
                self.assertEqual(self.ask(server, connection, host, "/favicon.gif"), 404)
        account = self.judge()
        self.assertEqual(account["browser_requests"], 3)
        self.assertEqual(account["robots_fetches"], 1)
        self.assertEqual(violations(account), {"unknown_url": 1}, account["offences"])


class OtherCrawler(unittest.TestCase):
    """wget2 fetches the whole world as fast as it can; its own account is compared with the oracle's."""

    def test_wget2(self):
        if shutil.which("wget2") is None:
            self.skipTest("no wget2")
        with tempfile.TemporaryDirectory() as folder:
            command = ["unshare", "--net", "--mount", sys.executable, __file__, PROGRAM, "--inside", folder]
            result = subprocess.run(command, capture_output=True, text=True, timeout=200)
            if "unshare" in result.stderr:
                self.skipTest(result.stderr.strip())
            self.assertEqual(result.returncode, 0, result.stderr)
            self.compare(pathlib.Path(folder))

    def compare(self, folder):
        log = folder / "hits.tsv"
        code, account, _ = check(log, "--agent", "wget", "--host-gap", str(GAP_S), "--connections", "1")
        self.assertEqual(code, 1)
        # wget2's own list of what it asked for: number, parent, URL, status, eight more. It notes URLs as pages spell
        # them, so both sides are brought to one form.
        theirs = collections.Counter()
        statuses = collections.Counter()
        for line in (folder / "wget2.csv").read_text().splitlines()[1:]:
            fields = line.split(",")
            theirs[plain(",".join(fields[2:-9]))] += 1
            statuses[fields[-9]] += 1
        hits = [line.split("\t") for line in log.read_text().splitlines() if line.startswith("H\t")]
        ours = collections.Counter(plain(f"http://{hit[4]}{urllib.parse.unquote(hit[7])}") for hit in hits)
        self.assertEqual((ours - theirs, theirs - ours), ({}, {}))
        self.assertEqual(account["fetches"], len(hits))
        self.assertEqual(account["fetches"], sum(theirs.values()))
        self.assertEqual(account["statuses"]["2xx"], statuses["200"])
        # This world has no dead links: where wget2 was told 404, it had misread a URL.
        self.assertEqual(account["unknown_url_violations"], statuses["404"])
        self.assertEqual(account["classes"]["nothing"], statuses["404"])
        # Its politeness, by a pass over the log that is independent of the oracle.
        last = {}
        close = 0
        smallest = 1e9
        for at, host in sorted((int(hit[1]), hit[4]) for hit in hits):
            if host in last:
                gap = (at - last[host]) / 1e9
                smallest = min(smallest, gap)
                close += gap + 0.002 < GAP_S
            last[host] = at
        self.assertEqual(account["host_gap_violations"], close)
        self.assertAlmostEqual(account["min_host_gap_s"], smallest, places=6)
        self.assertGreater(close, 0)
        self.compare_connections(log, hits, account)
        # It asks for robots.txt first and once per host; what it missed or should not have fetched is reported
        # correctly.
        self.assertEqual(account["robots_not_asked_violations"], 0, account["offences"])
        self.assertEqual(account["robots_fetches"], account["hosts"])
        self.assertEqual(account["max_robots_fetches"], 1)
        self.assertGreater(account["fetched_of_reachable"], 0.9 * account["reachable"])
        for url in account["missed_urls"]:
            self.assertNotIn(plain(url), theirs)
        for offence in account["offences"]:
            if offence["kind"] == "robots":
                self.assertIn(plain("http://" + offence["url"]), theirs)


    def compare_connections(self, log, hits, account):
        """Requests and connections open at once, counted with the whole log at hand."""
        closed = {int(line.split("\t")[2]): int(line.split("\t")[1]) for line in log.read_text().splitlines()
                  if line.startswith("C\t")}
        hosts = collections.defaultdict(list)
        for hit in hits:
            hosts[hit[4]].append((int(hit[1]), max(int(hit[1]), int(hit[10])), int(hit[2])))
        parallel = most_requests = most_open = 0
        for rows in hosts.values():
            rows.sort()
            first = {}
            for begin, _, connection in rows:
                first.setdefault(connection, begin)
            for at, (begin, _, _) in enumerate(rows):
                requests = 1 + sum(end > begin for _, end, _ in rows[:at])
                parallel += requests > 1
                most_requests = max(most_requests, requests)
            openings = sorted((begin, connection) for connection, begin in first.items())
            for at, (begin, _) in enumerate(openings):
                most_open = max(most_open, 1 + sum(closed[other] > begin for _, other in openings[:at]))
        self.assertEqual(account["parallel_violations"], parallel)
        self.assertEqual(account["max_in_progress"], most_requests)
        self.assertEqual(account["open_connections_max"], most_open)
        self.assertGreater(most_open, 1, "wget2 used one connection only")


def inside(folder):
    """Within the namespaces: the simulated web has the real ports, and the resolver's file names it."""
    resolv = folder / "resolv.conf"
    resolv.write_text("nameserver 127.0.0.1\n")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["mount", "--bind", str(resolv), os.path.realpath("/etc/resolv.conf")], check=True)
    with Server(folder / "hits.tsv", "--profile", "small", "--privileged", *WORLD) as server:
        command = ["wget2", "-r", "-l", "inf", "-H", "-D", "test", "--tries", "1", "--timeout", "20", "--no-config"]
        command += ["--stats-site=csv:" + str(folder / "wget2.csv"), "-P", str(folder / "pages"), "-q"]
        subprocess.run(command + server.ready["seeds"], check=False, timeout=120)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(pathlib.Path(sys.argv[2]))
    else:
        unittest.main()
