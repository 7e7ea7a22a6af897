"""Servers that want a crawl's memory, and a disk that is slow: the crawl stays within memory.total and goes on.

usage: hostile_memory.py PORTOLAN SLOW_DISK_LIBRARY [--memory 256M] [--connections 1024] [--big N] [--drip N] [--links N]
                         [--good N] [--good-pages N] [--body-mib N] [--disk-rate BYTES] [--least N] [--seconds N]

Each server is an address in 127.0.0.0/8; all are one process that sends as fast as it is read.
  big    bodies of --body-mib
  drip   all of that but one MiB, and from then on 400 bytes a second: fast enough for fetch.lowest_speed
  links  pages with 10,000 links under a base of 2,000 bytes
  good   --good-pages pages of 12 kB each, one linking to the next
The crawl is judged by the kernel's account of it (VmHWM) against memory.total and the fixed base that docs/memory.md
states, by whether all pages of the good servers come, and by whether pages come all the time.
"""

import argparse
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
STARVED_SECONDS = 20  # without a page of a good server


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
        filler = b"<p>" + b"hostile text " * 80 + b"\n"
        self.body = memoryview((filler * (body_mib * (1 << 20) // len(filler) + 1))[: body_mib << 20])
        self.small = memoryview(b"<title>good</title>" + b"<p>plain words of a page</p>\n" * 400)

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
            self.page(client, self.body)
            client.parts[-1] = self.body[: len(self.body) - (1 << 20)]
            client.drip = True
            return None
        if kind == "3":
            return self.page(client, self.links_page(client.address) if path == "/" else self.small)
        number = int(path[1:] or 0)
        self.good[client.address, number] = self.good.get((client.address, number), 0) + 1
        link = b"" if number + 1 >= self.good_pages else b"<a href='/%d'>next</a>" % (number + 1)
        return self.page(client, memoryview(bytes(self.small) + link))

    def page(self, client, body):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        client.parts += [memoryview(head.encode()), body]

    def end(self, client):
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
            while client.parts:
                sent = client.socket.send(client.parts[0][: 1 << 18])
                if sent < len(client.parts[0]):
                    client.parts[0] = client.parts[0][sent:]
                else:
                    client.parts.pop(0)
        except BlockingIOError:
            return self.watch(client, selectors.EVENT_READ | selectors.EVENT_WRITE)
        except OSError:
            return self.end(client)
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
    parser.add_argument("--good-pages", type=int, default=10)
    parser.add_argument("--body-mib", type=int, default=16)
    parser.add_argument("--disk-rate", type=float, default=4e6)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--least", type=float, default=90, help="seconds that it lasts at least")
    parser.add_argument("--address-space", type=int, default=0, help="MiB of RLIMIT_AS; 0: any")
    options = parser.parse_args()

    web = Web(options.body_mib, options.good_pages)
    web.start()
    addresses = [f"127.{kind}.{n // 250}.{n % 250 + 1}"
                 for kind, count in ((1, options.big), (2, options.drip), (3, options.links), (4, options.good))
                 for n in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        seeds = pathlib.Path(folder) / "seeds.txt"
        seeds.write_text("".join(f"http://{address}:{web.port}/\n" for address in addresses))
        command = [options.program, "crawl", "--seeds", seeds, "--dir", f"{folder}/crawl", "--json", "--memory",
                   options.memory, "--connections", options.connections, "--allow-private", "--scope", "host", "--delay",
                   "50ms", "--ip-delay", "1ms", "--max-pages", "0", "--set", "politeness.delay_factor=0", "--set",
                   "checkpoint.interval=5s"]
        environment = dict(os.environ, LD_PRELOAD=options.library, SLOW_DISK_PATH="/warc/",
                           SLOW_DISK_RATE=str(options.disk_rate))
        if options.address_space:
            command = ["prlimit", f"--as={options.address_space << 20}", *command]
        crawl = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True, env=environment)
        begin = last = time.monotonic()
        done = starved = 0
        peak = 0
        wanted = options.good * options.good_pages
        while crawl.poll() is None and time.monotonic() - begin < options.seconds:
            time.sleep(0.5)
            try:
                peak, now = peak_mib(crawl.pid)
            except (AttributeError, OSError):
                break
            if len(web.good) > done:
                done, last = len(web.good), time.monotonic()
            if done < wanted:
                starved = max(starved, time.monotonic() - last)
            seconds = time.monotonic() - begin
            if int(seconds * 2) % 20 == 0:
                print(f"{seconds:6.1f} s: RSS {now:.0f} MiB, peak {peak:.0f} MiB, good pages {done} of {wanted}, asked "
                      f"{web.asked}, dripping {len(web.dripping)}", file=sys.stderr)
            # All have had their turn at the crawl's memory.
            if seconds > options.least and done == wanted and web.asked["1"] >= options.big and web.asked["2"] >= options.drip:
                break
        seconds = time.monotonic() - begin
        died = crawl.poll() is not None
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
        outcomes = json.loads(out).get("outcomes") if out.strip().startswith("{") else None
    bound = mib_of(options.memory) + BASE_MIB
    print(json.dumps({"memory": options.memory, "connections": options.connections, "seconds": round(seconds, 1),
                      "peak_mib": round(peak), "bound_mib": bound, "good_pages": done, "wanted": wanted,
                      "asked": web.asked, "longest_without_good_page_s": round(starved, 1), "exit": crawl.returncode,
                      "outcomes": outcomes}))
    problems = []
    if died or crawl.returncode not in (0, 130):
        problems.append(f"the crawl ended with {crawl.returncode}: {error[-2000:]}")
    if peak > bound:
        problems.append(f"{peak:.0f} MiB were used, {bound} are allowed")
    if done < wanted:
        problems.append(f"{done} of {wanted} pages of good servers came")
    if starved > STARVED_SECONDS:
        problems.append(f"for {starved:.0f} s no page of a good server came")
    if web.asked["1"] < options.big or web.asked["2"] < options.drip:
        problems.append(f"not all hostile servers were asked: {web.asked}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
