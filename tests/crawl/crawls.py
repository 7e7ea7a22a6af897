"""What the tests of whole crawls share: starting programs, and reading what a crawl left behind."""

import gzip
import http.server
import json
import pathlib
import signal
import subprocess
import threading
import time
import zlib

SKIPPED = 77  # CTest: this test could not be made here


def run(*command, timeout=120, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout, **more)


class LocalServer(http.server.ThreadingHTTPServer):
    """A server of the test's own, answering until it is closed."""

    request_queue_size = 64

    def __init__(self, handler, address="127.0.0.1", port=0):
        super().__init__((address, port), handler)
        self.origin = f"http://{address}:{self.server_address[1]}"
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.shutdown()
        self.thread.join(10)
        self.server_close()


class Web:
    """portolan sim serve, ready to be crawled."""

    def __init__(self, program, folder, *flags, max_seconds=170):
        self.log = pathlib.Path(folder) / "hits.tsv"
        self.ca = pathlib.Path(folder) / "ca.pem"
        command = [program, "sim", "serve", "--log", self.log, "--ca", self.ca, "--max-seconds", max_seconds, *flags]
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.ready = json.loads(self.process.stdout.readline())

    def flags(self):
        """What makes a crawl fetch from this web and no other."""
        return ["--dns", f"127.0.0.1:{self.ready['dns_port']}", "--ca", self.ca, "--allow-private"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        self.process.stdout.close()


def captures(directory):
    """The index lines of the archive, finished files' and growing ones', as (key, timestamp, object)."""
    lines = []
    for path in sorted(pathlib.Path(directory).glob("warc/*.cdxj*")):
        if path.name.endswith(".part") and path.with_suffix("").exists():
            continue  # its file is finished: the sorted index beside it says the same
        for line in path.read_text().splitlines():
            key, timestamp, values = line.split(" ", 2)
            lines.append((key, timestamp, json.loads(values)))
    return lines


def log_lines(directory):
    """The crawl's own log, one object per fetch; finished files are packed."""
    lines = []
    for path in sorted(pathlib.Path(directory).glob("log/crawl-*.jsonl*")):
        if path.name.endswith(".gz") and path.with_suffix("").exists():
            continue  # both are there only after a crash
        data = gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
        lines += [json.loads(line) for line in data.decode().splitlines()]
    return lines


def member(path, offset, length):
    """The record that stands at a place of a WARC file: exactly one gzip member."""
    with open(path, "rb") as file:
        file.seek(offset)
        data = file.read(length)
    inflate = zlib.decompressobj(wbits=31)
    record = inflate.decompress(data)
    assert inflate.eof and not inflate.unused_data, f"{path}: no gzip member of {length} bytes at {offset}"
    return record


def header(record, name):
    """A field of a WARC record's head."""
    head = record.partition(b"\r\n\r\n")[0].decode()
    for line in head.split("\r\n")[1:]:
        key, _, value = line.partition(": ")
        if key.lower() == name.lower():
            return value
    return None


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain: {what}"
        time.sleep(0.02)


def status(program, directory):
    """What portolan status says; None while the crawl has not begun."""
    done = run(program, "status", directory, "--json")
    return json.loads(done.stdout) if done.returncode == 0 else None
