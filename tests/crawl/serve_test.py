"""The link graph of a crawl, served: the same links as the verbs print, under orderly and hostile requests.

usage: serve_test.py PORTOLAN
"""

import concurrent.futures
import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import crawls
import little_site

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None


class Served:
    """portolan serve, on a free port."""

    def __init__(self, directory, *flags):
        command = [PROGRAM, "serve", directory, "--listen", "127.0.0.1:0", "--json", *flags]
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.port = json.loads(self.process.stdout.readline())["port"]

    def ask(self, method, target, body=None, headers=None):
        """Status, fields and body of an answer, over a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, target, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, path, **parameters):
        status, headers, body = self.ask("GET", path + ("?" + urllib.parse.urlencode(parameters) if parameters else ""))
        assert headers["Content-Type"] == "application/json", headers
        return status, json.loads(body)

    def post(self, path, urls):
        status, _, body = self.ask("POST", path, json.dumps(urls), {"Content-Type": "application/json"})
        return status, json.loads(body)

    def raw(self, data, timeout=20, half_close=False):
        """All that comes back for these bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as client:
            try:
                client.sendall(data)
                if half_close:
                    client.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it was refused before it was sent
            answer = b""
            try:
                while piece := client.recv(65536):
                    answer += piece
            except ConnectionError:
                pass
            return answer

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()


def pages(count):
    """Every page links to its multiples; the last ones link nowhere."""
    site = {"/robots.txt": "User-agent: *\nDisallow: /no"}
    for n in range(count):
        links = [n * k for k in (2, 3, 5, 7) if n > 0 and n * k < count] or [1]
        if n == 0:
            links = range(1, 40)
        site["/" if n == 0 else f"/p{n}?a=1&b={n}"] = "<title>x</title>" + "".join(
            f'<a href="/p{to}?a=1&amp;b={to}"{" rel=nofollow" if to % 3 == 0 else ""}>to &quot;{to}&quot; ü</a>'
            for to in links)
    site["/"] += '<a href="/no">no</a><a href="http://elsewhere.test/x">far</a>'
    return site


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.site = little_site.Site(pages(80))
        cls.addClassCleanup(cls.site.close)
        cls.dir = cls.folder / "crawl"
        cls.crawl(cls.dir, "40")
        cls.build(cls.dir)
        cls.served = Served(cls.dir, "--threads", "8", "-v")
        cls.addClassCleanup(cls.served.__exit__)
        cls.home = cls.site.url + "/"

    @classmethod
    def crawl(cls, directory, most):
        done = crawls.run(PROGRAM, "crawl", *little_site.QUICK, "--dir", directory, "--set", "outputs.links=true",
                          "--max-pages", most, cls.site.url + "/")
        assert done.returncode == 0, done.stderr

    @classmethod
    def build(cls, directory):
        done = crawls.run(PROGRAM, "graph", "build", directory)
        assert done.returncode == 0, done.stderr

    def printed(self, direction, url, *flags, directory=None):
        """What the verb prints, as the server says it."""
        done = crawls.run(PROGRAM, "graph", direction, directory or self.dir, url, "--json", "--limit", "0", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        links = []
        for line in done.stdout.splitlines():
            link = json.loads(line)
            link["url"] = link.pop("target" if direction == "out" else "source")
            link.pop("source" if direction == "out" else "target")
            links.append(link)
        return links

    def urls(self):
        return [link["url"] for link in self.printed("out", self.home)]

    def test_the_same_links_as_the_verbs_print(self):
        urls = self.urls()
        self.assertGreater(len(urls), 30)
        some = 0
        for direction in ("out", "in"):
            for url in [self.home, *urls[:6], "http://elsewhere.test/x"]:
                status, answer = self.served.get(f"/graph/{direction}", url=url, limit=1000)
                self.assertEqual(status, 200, answer)
                expected = self.printed(direction, url)
                self.assertEqual(answer["links"], expected)
                self.assertEqual(answer["total"], len(expected))
                self.assertEqual(answer["url"], url)
                some += len(expected)
            for level in ("host", "domain"):
                status, answer = self.served.get(f"/graph/{direction}", url="127.0.0.1", level=level)
                self.assertEqual(answer["links"], self.printed(direction, "127.0.0.1", "--" + level))
        self.assertGreater(some, 50)
        far = next(link for link in self.served.get("/graph/out", url=self.home, limit=1000)[1]["links"]
                   if link["url"] == "http://elsewhere.test/x")
        self.assertEqual(far["anchor"], "far")

    def test_pages_and_batches_are_the_same_links(self):
        whole = self.printed("out", self.home)
        links, at = [], 0
        while at is not None:
            status, part = self.served.get("/graph/out", url=self.home, limit=7, **{"from": at})
            links += part["links"]
            at = part.get("next")
        self.assertEqual(links, whole)
        urls = self.urls()
        status, batch = self.served.post("/graph/in?limit=1000", urls + ["http://127.0.0.1:1/none"])
        self.assertEqual(status, 200)
        self.assertEqual([one["url"] for one in batch["results"]], urls + ["http://127.0.0.1:1/none"])
        for url, one in list(zip(urls, batch["results"]))[:5]:
            self.assertEqual(one["links"], self.printed("in", url))
        self.assertEqual(batch["results"][-1]["error"]["code"], "not_in_graph")
        target = "/graph/in?limit=1000&" + "&".join("url=" + urllib.parse.quote(url, "") for url in urls[:3])
        self.assertEqual(json.loads(self.served.ask("GET", target)[2])["results"], batch["results"][:3])

    def test_a_page_that_is_not_there(self):
        status, answer = self.served.get("/graph/out", url="http://elsewhere.tes/")
        self.assertEqual((status, answer["error"]["code"]), (404, "not_in_graph"))
        self.assertEqual(answer["error"]["nearest_host"], "elsewhere.test")
        done = crawls.run(PROGRAM, "graph", "out", self.dir, "http://elsewhere.tes/")
        self.assertEqual(done.returncode, 1)
        self.assertIn(answer["error"]["message"], done.stderr)

    def test_big_batches(self):
        urls = (self.urls() * 1000)[:10_000]
        status, batch = self.served.post("/graph/out?limit=1", urls)
        self.assertEqual((status, len(batch["results"])), (200, 10_000))
        status, answer = self.served.post("/graph/out", urls + urls[:1])
        self.assertEqual((status, answer["error"]["code"]), (413, "too_much"))
        status, answer = self.served.post("/graph/out", ["x" * (9 << 20)])
        self.assertEqual((status, answer["error"]["code"]), (413, "body_too_large"))

    def test_index_health_and_head(self):
        status, headers, body = self.served.ask("GET", "/")
        self.assertEqual(status, 200)
        self.assertIn(b"/graph/in", body)
        self.assertNotIn("Access-Control-Allow-Origin", headers)
        status, headers, body = self.served.ask("HEAD", "/graph/out?url=" + urllib.parse.quote(self.home, ""))
        self.assertEqual((status, body), (200, b""))
        self.assertGreater(int(headers["Content-Length"]), 100)
        status, health = self.served.get("/healthz")
        self.assertEqual((status, health["ok"]), (200, True))

    def test_one_connection_serves_many_requests(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.served.port, timeout=10)
        connection.connect()
        first = connection.sock
        for n in range(30):
            target = "/graph/out?url=" + urllib.parse.quote(self.home, "") if n % 3 else "/none"
            connection.request("GET", target)
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200 if n % 3 else 404)
            answer.read()
        connection.request("POST", "/graph/out", json.dumps([self.home]), {"Content-Type": "application/json"})
        self.assertEqual(connection.getresponse().read().count(b'"generation"'), 1)
        self.assertIs(connection.sock, first)
        connection.close()

    def status_of(self, answer):
        found = re.match(rb"HTTP/1\.1 (\d+) [^\r]*\r\n", answer)
        return int(found[1]) if found else None

    def body_of(self, answer):
        return json.loads(answer.partition(b"\r\n\r\n")[2])

    def head(self, *fields, method="GET", target="/healthz"):
        lines = [f"{method} {target} HTTP/1.1", f"Host: localhost:{self.served.port}", "Connection: close", *fields]
        return "\r\n".join(lines).encode() + b"\r\n\r\n"

    def test_hostile_requests_are_refused_by_name(self):
        host = f"Connection: close\r\nHost: 127.0.0.1:{self.served.port}\r\n".encode()
        cases = [
            (403, b"GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n"),
            (403, b"GET / HTTP/1.0\r\n\r\n"),
            (431, b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 100_000 + b"\r\n\r\n"),
            (431, b"GET / HTTP/1.1\r\n" + host + b"X: y\r\n" * 5000 + b"\r\n"),
            (400, b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 9000 + b"\r\n\r\n"),
            (414, b"GET /graph/out?url=" + b"a" * 9000 + b" HTTP/1.1\r\n" + host + b"\r\n"),
            (400, b"\0\xff\xfe\r\n\r\n"),
            (400, b"GET\r\n\r\n"),
            (400, b"\r\n\r\n"),
            (400, b"GET /graph/out?url=%zz HTTP/1.1\r\n" + host + b"\r\n"),
            (405, self.head(method="DELETE", target="/graph/out?url=x")),
            (405, self.head(method="OPTIONS", target="/graph/out?url=x")),
            (405, self.head("Content-Length: 2", method="POST", target="/") + b"[]"),
            (400, self.head("Content-Length: 2") + b"[]"),
            (411, self.head("Content-Type: application/json", method="POST", target="/graph/in")),
            (415, self.head("Content-Length: 2", method="POST", target="/graph/in") + b"[]"),
            (415, self.head("Content-Length: 2", "Content-Type: multipart/form-data; boundary=x", method="POST",
                            target="/graph/in") + b"[]"),
            (415, self.head("Content-Length: 2", "Content-Type: application/json", "Content-Encoding: gzip", method="POST",
                            target="/graph/in") + b"[]"),
            (400, self.head("Content-Length: 1", "Content-Type: application/json", method="POST", target="/graph/in") + b"["),
            (413, self.head("Content-Length: 99999999999999999999", "Content-Type: application/json", method="POST",
                            target="/graph/in") + b"[]"),
            (200, self.head("Content-Length: 2", "Content-Type: application/json", method="POST", target="/graph/in") + b"[]"),
            (200, self.head("Transfer-Encoding: chunked", "Content-Type: application/json", method="POST",
                            target="/graph/in") + b"2\r\n[]\r\n0\r\n\r\n"),
            (400, self.head("Transfer-Encoding: chunked", "Content-Type: application/json", method="POST",
                            target="/graph/in") + b"zz\r\n[]\r\n0\r\n\r\n"),
            (413, self.head("Transfer-Encoding: chunked", "Content-Type: application/json", method="POST",
                            target="/graph/in") + b"100000\r\n" + (b"x" * 0x100000 + b"\r\n100000\r\n") * 20),
            (200, self.head("Range: bytes=" + ",".join(["0-"] * 2000))),
            (200, self.head("Accept-Encoding: br, gzip")),
        ]
        for expected, data in cases:
            answer = self.served.raw(data)
            self.assertEqual(self.status_of(answer), expected, (data[:100], answer[:300]))
            if expected != 200:
                self.assertIn("code", self.body_of(answer)["error"], data[:100])
            self.assertNotIn(b"\r\nContent-Encoding", answer)
        # Bytes of no meaning, cut anywhere: an answer or a closed connection, and the server goes on.
        whole = self.head("Content-Length: 30", "Content-Type: application/json", method="POST", target="/graph/in")
        for length in range(0, len(whole), 7):
            self.served.raw(whole[:length], half_close=True)
        self.assertEqual(self.served.get("/healthz")[0], 200)

    def test_many_clients_at_once(self):
        expected = self.printed("in", self.urls()[0])

        def ask(_):
            return self.served.get("/graph/in", url=self.urls_once, limit=1000)[1]["links"] == expected

        self.urls_once = self.urls()[0]
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            self.assertTrue(all(pool.map(ask, range(200))))

    def test_slow_and_silent_clients_do_not_keep_others_out(self):
        with Served(self.dir, "--threads", "2") as served:
            slow = [socket.create_connection(("127.0.0.1", served.port), 20) for _ in range(2)]
            for client in slow:
                client.sendall(b"GET / HT")
            begin = time.monotonic()
            while time.monotonic() < begin + 4:  # a byte now and then does not prolong it
                for client in slow:
                    client.sendall(b"T")
                time.sleep(0.5)
            self.assertEqual(served.get("/healthz")[0], 200)  # waits for a thread
            waited = time.monotonic() - begin
            self.assertGreater(waited, 5)
            self.assertLess(waited, 14)
            for client in slow:
                self.assertEqual(self.status_of(client.recv(1000)), 408)
                client.close()
            # Connections without a request leave as soon as others wait.
            idle = [http.client.HTTPConnection("127.0.0.1", served.port, timeout=10) for _ in range(2)]
            for client in idle:
                client.request("GET", "/healthz")
                client.getresponse().read()
            begin = time.monotonic()
            self.assertEqual(served.get("/healthz")[0], 200)
            self.assertLess(time.monotonic() - begin, 3)
            # More than may wait.
            crowd = [socket.create_connection(("127.0.0.1", served.port), 20) for _ in range(80)]
            last = crowd[-1].recv(1000)
            self.assertEqual(self.status_of(last), 503)
            self.assertEqual(self.body_of(last)["error"]["code"], "too_many_connections")
            for client in crowd + [one.sock for one in idle if one.sock]:
                client.close()
            self.assertEqual(served.get("/healthz")[0], 200)
            code, err = served.stop()
            self.assertEqual(code, 0, err)

    def test_a_rebuild_is_served_without_a_restart(self):
        directory = self.folder / "grows"
        self.crawl(directory, "5")
        with Served(directory) as served:
            status, answer = served.get("/graph/out", url=self.home)
            self.assertEqual((status, answer["error"]["code"]), (503, "no_graph"))
            self.build(directory)
            crawls.wait_until(lambda: served.get("/graph/out", url=self.home)[0] == 200, 5, "the first graph")
            self.assertEqual(served.get("/graph/out", url=self.home)[1]["generation"], 1)
            done = crawls.run(PROGRAM, "resume", directory, "--max-pages", "30")
            self.assertEqual(done.returncode, 0, done.stderr)
            building = subprocess.Popen([PROGRAM, "graph", "build", str(directory)], stdout=subprocess.DEVNULL)
            while building.poll() is None:
                self.assertEqual(served.get("/graph/out", url=self.home)[0], 200)
            crawls.wait_until(lambda: served.get("/graph/out", url=self.home)[1]["generation"] == 2, 5, "the second graph")
            url = self.urls()[1]
            self.assertEqual(served.get("/graph/in", url=url, limit=1000)[1]["links"],
                             self.printed("in", url, directory=directory))

    def test_damage_while_serving_is_named_and_does_not_end_it(self):
        directory = self.folder / "damaged"
        shutil.copytree(self.dir / "graph", directory / "graph")
        with Served(directory) as served:
            self.assertEqual(served.get("/graph/out", url=self.home)[0], 200)
            for name in ("pages.urls", "pages-t.offsets", "pages.texts"):
                path = next((directory / "graph").glob(f"gen-*-{name}"))
                whole = path.read_bytes()
                with open(path, "r+b") as file:
                    file.truncate(1)
                for direction in ("out", "in"):
                    status, answer = served.get(f"/graph/{direction}", url=self.home)
                    self.assertIn(status, (200, 500), answer)  # what is not read is not missed at once
                crawls.wait_until(lambda: served.get("/graph/out", url=self.home)[0] == 500, 5, name)
                self.assertIn(name, served.get("/graph/out", url=self.home)[1]["error"]["message"])
                crawls.wait_until(lambda: served.get("/healthz")[0] == 503, 5, name)
                path.write_bytes(whole)
                crawls.wait_until(lambda: served.get("/graph/out", url=self.home)[0] == 200, 5, name)
            self.assertEqual(served.get("/graph/out", url=self.home, limit=1000)[1]["links"],
                             self.printed("out", self.home))

    def test_it_starts_and_stops_cleanly(self):
        def refused(*flags, directory=None):
            done = crawls.run(PROGRAM, "serve", directory or self.dir, *flags, timeout=20)
            return done.returncode, done.stderr

        code, err = refused("--listen", "0.0.0.0:0")
        self.assertEqual(code, 2)
        self.assertIn("no access control", err)
        self.assertEqual(refused("--listen", "127.0.0.1")[0], 2)
        self.assertEqual(refused(directory=self.folder)[0], 3)
        code, err = refused("--listen", f"127.0.0.1:{self.served.port}")
        self.assertEqual(code, 4)
        self.assertIn("in use", err)
        for how in (signal.SIGINT, signal.SIGTERM):
            served = Served(self.dir, "-v")
            # One client in the middle of a head, one idle: neither holds it up.
            half = socket.create_connection(("127.0.0.1", served.port), 20)
            half.sendall(b"GET /")
            idle = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
            idle.request("GET", "/healthz")
            idle.getresponse().read()
            begin = time.monotonic()
            code, err = served.stop(how)
            self.assertEqual(code, 0, err)
            self.assertLess(time.monotonic() - begin, 5)
            self.assertIn("target=/healthz", err)
            half.close()
            idle.close()


if __name__ == "__main__":
    unittest.main()
