"""Servers that want a crawl's memory, and a disk that is slow: the crawl stays within memory.total and goes on.

usage: hostile_memory.py PORTOLAN SLOW_DISK_LIBRARY [--memory 256M] [--connections 1024] [--big N] [--drip N]
                         [--links N] [--good N] [--good-pages N] [--body-mib N] [--disk-rate BYTES] [--least N] [--seconds N]
                         [--drips-end] [--data MIB] [--kill-at S]

Each server is an address in 127.0.0.0/8; all are one process that sends as fast as it is read.
  big    bodies of --body-mib that can hardly be compressed
  drip   all of that but one MiB, and from then on 400 bytes a second: fast enough for fetch.lowest_speed. Every other
         one of these does not say how long its body is
  links  pages with 10,000 links under a base of 2,000 bytes
  good   --good-pages pages of 12 kB and of 150 kB, each linking to the next
The crawl is judged by the kernel's account of it (VmHWM) against memory.total and the fixed base that docs/memory.md
states, by whether all pages of the good servers come, and by how long at most none of them does: half of what answers
may hold must be written before fetches begin again, so that depends on the disk's rate.
With --drips-end it lasts until all drip servers but three have been left: the last ones take nothing from anybody.
"""

import argparse
import base64
import collections
import json
import os
import pathlib
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

BASE_MIB = 48  # kMemoryBase, docs/memory.md
DRIP_BYTES = 100
DRIP_SECONDS = 0.25
ANSWERS_SHARE = 17 / 64  # of memory.total, docs/memory.md
BUSY_SECONDS = 10  # that a busy machine may add to any wait
KINDS = {"1": "big", "2": "drip", "3": "links", "4": "good"}


class Client:
    __slots__ = ("socket", "address", "received", "parts", "drip")

    def __init__(self, sock):
        self.socket = sock
        self.address = sock.getsockname()[0]
        self.received = b""
        self.parts = []  # memoryviews to send
        self.drip = False


class Web(threading.Thread):
    """One thread, one epoll set."""

    def __init__(self, body_mib, good_pages):
        super().__init__(daemon=True)
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)  # 1,000 of them are filled in no time
        self.listener.bind(("0.0.0.0", 0))  # all of 127.0.0.0/8; others are not answered
        self.listener.listen(4096)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.good_pages = good_pages
        self.good = {}  # (address, path): times sent
        self.asked = {"1": 0, "2": 0, "3": 0, "4": 0}
        self.dripping = set()
        self.stopping = False
        self.left = set()  # drip servers that were left while they dripped
        self.body = memoryview(b"<p>" + base64.b64encode(os.urandom((body_mib << 20) * 3 // 4))[: (body_mib << 20) - 3])
        self.small = memoryview(b"<title>good</title>" + b"<p>plain words of a page</p>\n" * 400)
        self.common = memoryview(bytes(self.small) * 12)

    def links_page(self, address):
        base = f"http://{address}:{self.port}/" + "b" * 1970 + "/"
        return memoryview((f"<base href='{base}'>" + "".join(f"<a href='{n}'>x</a>\n" for n in range(10_000))).encode())

    def answer(self, client, path):
        kind = client.address.split(".")[1]
        if path == "/robots.txt":
            return client.parts.append(memoryview(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))
        self.asked[kind] = self.asked.get(kind, 0) + 1
        if kind == "1":
            return self.page(client, self.body)
        if kind == "2":
            if int(client.address.split(".")[3]) % 2 == 0:
                self.page(client, self.body)
            else:  # until it is closed, which it never is
                client.parts += [memoryview(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"), self.body]
            client.parts[-1] = self.body[: len(self.body) - (1 << 20)]
            client.drip = True
            return None
        if kind == "3":
            return self.page(client, self.links_page(client.address) if path == "/" else self.small)
        number = int(path[1:] or 0)
        self.good[client.address, number] = self.good.get((client.address, number), 0) + 1
        link = b"" if number + 1 >= self.good_pages else b"<a href='/%d'>next</a>" % (number + 1)
        return self.page(client, memoryview(bytes(self.common if number % 2 == 1 else self.small) + link))

    def page(self, client, body):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        client.parts += [memoryview(head.encode()), body]

    def end(self, client):
        if client.drip:
            self.left.add(client.address)
        self.dripping.discard(client)
        try:
            self.selector.unregister(client.socket)
        except (KeyError, ValueError):
            pass
        client.socket.close()

    def watch(self, client, events):
        self.selector.modify(client.socket, events, client)

    def readable(self, client):
        try:
            data = client.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            return self.end(client)
        client.received += data
        while b"\r\n\r\n" in client.received:
            head, client.received = client.received.split(b"\r\n\r\n", 1)
            self.answer(client, head.split(b" ", 2)[1].decode())
        self.writable(client)

    def writable(self, client):
        try:
            for _ in range(4):  # the others have their turn, too
                if not client.parts:
                    break
                sent = client.socket.send(client.parts[0][: 1 << 18])
                if sent < len(client.parts[0]):
                    client.parts[0] = client.parts[0][sent:]
                else:
                    client.parts.pop(0)
        except BlockingIOError:
            return self.watch(client, selectors.EVENT_READ | selectors.EVENT_WRITE)
        except OSError:
            return self.end(client)
        if client.parts:
            return self.watch(client, selectors.EVENT_READ | selectors.EVENT_WRITE)
        if client.drip:
            self.dripping.add(client)
        self.watch(client, selectors.EVENT_READ)

    def run(self):
        next_drip = time.monotonic()
        while not self.stopping:
            for key, events in self.selector.select(0.05):
                if key.fileobj is self.listener:
                    for _ in range(64):
                        try:
                            sock, peer = self.listener.accept()
                        except OSError:
                            break
                        if not peer[0].startswith("127."):
                            sock.close()
                            continue
                        sock.setblocking(False)
                        self.selector.register(sock, selectors.EVENT_READ, Client(sock))
                    continue
                client = key.data
                if events & selectors.EVENT_READ:
                    self.readable(client)
                if events & selectors.EVENT_WRITE and client.socket.fileno() >= 0:
                    self.writable(client)
            if time.monotonic() < next_drip:
                continue
            next_drip = time.monotonic() + DRIP_SECONDS
            for client in list(self.dripping):
                try:
                    client.socket.send(b"." * DRIP_BYTES)
                except BlockingIOError:
                    pass
                except OSError:
                    self.end(client)


def peak_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    number = lambda name: int(re.search(name + r":\s+(\d+)", status).group(1)) / 1024
    return number("VmHWM"), number("VmRSS")


def ends_of(folder):
    """What became of the pages of each kind of server, by the crawl log."""
    ends = {kind: collections.Counter() for kind in KINDS.values()}
    for path in pathlib.Path(folder).glob("crawl/log/*.jsonl"):
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            if entry["kind"] == "page":
                ends[KINDS[entry["url"].split(".")[1]]][entry["outcome"]] += 1
    return ends


def mib_of(text):
    units = {"M": 1, "G": 1024}
    return int(text[:-1]) * units[text[-1]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--memory", default="256M")
    parser.add_argument("--connections", type=int, default=1024)
    parser.add_argument("--big", type=int, default=300)
    parser.add_argument("--drip", type=int, default=400)
    parser.add_argument("--links", type=int, default=100)
    parser.add_argument("--good", type=int, default=300)
    parser.add_argument("--good-pages", type=int, default=20)
    parser.add_argument("--body-mib", type=int, default=16)
    parser.add_argument("--disk-rate", type=float, default=4e6)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--least", type=float, default=90, help="seconds that it lasts at least")
    parser.add_argument("--delay", default="1s", help="between the pages of a host")
    parser.add_argument("--drips-end", action="store_true", help="lasts until nearly all drip servers have been left")
    parser.add_argument("--data", type=int, default=0, help="MiB that it may map (RLIMIT_DATA); 0: any")
    parser.add_argument("--kill-at", type=float, default=0, help="seconds until it is killed and resumed; 0: never")
    options = parser.parse_args()
    if not pathlib.Path(options.library).is_file():  # the loader would only warn, and the disk would be fast
        sys.exit(f"{options.library} is missing: ninja -C build/release slow_disk")

    web = Web(options.body_mib, options.good_pages)
    web.start()
    addresses = [f"127.{kind}.{n // 250}.{n % 250 + 1}"
                 for kind, count in ((1, options.big), (2, options.drip), (3, options.links), (4, options.good))
                 for n in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        seeds = pathlib.Path(folder) / "seeds.txt"
        seeds.write_text("".join(f"http://{address}:{web.port}/\n" for address in addresses))
        command = [options.program, "crawl", "--seeds", seeds, "--dir", f"{folder}/crawl", "--json",
                   "--memory", options.memory, "--connections", options.connections, "--allow-private",
                   "--scope", "host", "--delay", options.delay, "--ip-delay", "1ms", "--max-pages", "0",
                   "--set", "politeness.delay_factor=0", "--set", "checkpoint.interval=5s"]
        environment = dict(os.environ, LD_PRELOAD=options.library, SLOW_DISK_PATH="/warc/",
                           SLOW_DISK_RATE=str(options.disk_rate))
        limit = ["prlimit", f"--data={options.data << 20}"] if options.data else []
        start = lambda parts: subprocess.Popen([str(part) for part in limit + parts], stdout=subprocess.PIPE,
                                               stderr=subprocess.PIPE, text=True, env=environment)
        crawl = start(command)
        kill_at = options.kill_at
        begin = last = time.monotonic()
        done = starved = 0
        peak = 0
        wanted = options.good * options.good_pages
        drips_over = lambda: not options.drips_end or len(web.left) >= options.drip - 3
        while crawl.poll() is None and time.monotonic() - begin < options.seconds:
            time.sleep(0.5)
            try:
                its_peak, now = peak_mib(crawl.pid)
            except (AttributeError, OSError):
                break
            peak = max(peak, its_peak)
            if kill_at and time.monotonic() - begin > kill_at:
                kill_at = 0
                crawl.kill()
                crawl.communicate()
                crawl = start([options.program, "resume", f"{folder}/crawl", "--json"])
            if len(web.good) > done:
                done, last = len(web.good), time.monotonic()
            if done < wanted:
                starved = max(starved, time.monotonic() - last)
            seconds = time.monotonic() - begin
            if int(seconds * 2) % 20 == 0:
                print(f"{seconds:6.1f} s: RSS {now:.0f} MiB, peak {peak:.0f} MiB, good pages {done} of {wanted}, asked "
                      f"{web.asked}, dripping {len(web.dripping)}, left {len(web.left)}", file=sys.stderr)
            # All have had their turn at the crawl's memory.
            asked = all(web.asked[kind] >= getattr(options, KINDS[kind]) for kind in "12")
            if seconds > options.least and done == wanted and asked and drips_over():
                break
        seconds = time.monotonic() - begin
        died = crawl.poll() is not None
        left, all_left = len(web.left), drips_over()
        if not died:
            crawl.send_signal(signal.SIGINT)
            time.sleep(0.5)
            crawl.send_signal(signal.SIGINT)
        try:
            out, error = crawl.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            crawl.kill()
            out, error = crawl.communicate()
            error += "\n(killed: it did not stop)"
        web.stopping = True
        ends = ends_of(folder)
    bound = mib_of(options.memory) + BASE_MIB
    longest = mib_of(options.memory) * (1 << 20) * ANSWERS_SHARE / 2 / options.disk_rate + BUSY_SECONDS
    print(json.dumps({"memory": options.memory, "connections": options.connections, "seconds": round(seconds, 1),
                      "peak_mib": round(peak), "bound_mib": bound, "good_pages": done, "wanted": wanted,
                      "asked": web.asked, "longest_without_good_page_s": round(starved, 1),
                      "allowed_s": round(longest, 1), "drips_left": left,
                      "exit": crawl.returncode, "ends": ends}))
    problems = []
    if died or crawl.returncode not in (0, 130):
        problems.append(f"the crawl ended with {crawl.returncode}: {error[-2000:]}")
    if peak > bound:
        problems.append(f"{peak:.0f} MiB were used, {bound} are allowed")
    if done < wanted:
        problems.append(f"{done} of {wanted} pages of good servers came")
    if starved > longest:
        problems.append(f"for {starved:.0f} s no page of a good server came, {longest:.0f} are allowed")
    if not all_left:
        problems.append(f"{left} of {options.drip} drip servers were left")
    if options.links and not ends["links"]["answered"]:
        problems.append("no page with many links came")
    if web.asked["1"] < options.big or web.asked["2"] < options.drip:
        problems.append(f"not all hostile servers were asked: {web.asked}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
