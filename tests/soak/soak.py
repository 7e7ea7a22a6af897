"""A crawl of the simulated web that is killed (kill -9) at random moments and resumed, again and again, until it is done;
then everything is judged.

usage: soak.py PORTOLAN [--pages N] [--kills K] [--seed S] [--check-every C] [--set KEY=VALUE] [--world KEY=VALUE]
               [--folder DIR]

What must hold in the end:
  - portolan check finds the directory intact, after each C-th kill and at the end; each capture is there once;
  - the archive holds the URLs that an undisturbed crawl of the same web archives, no more and no fewer;
  - the oracle, which saw every request of all runs, finds no rule broken: gaps between requests hold across restarts,
    robots.txt is obeyed, everything that can be reached was fetched;
  - what was fetched more often than the crawl's log says was fetched after the last checkpoint before a kill.

The short form is part of ./test. The long one:

    python3 tests/soak/soak.py build/release/bin/portolan --pages 200000 --kills 100 --check-every 10

The seed decides the web and the moments; where in its work a kill meets the crawl is the machine's choice. The folder is
kept when anything fails.
"""

import argparse
import collections
import gzip
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crawl"))
import crawls  # noqa: E402

GAP = "20ms"
IP_GAP = "2ms"


class Failed(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failed(what)


def place(url):
    """What a server sees of a URL."""
    parts = urllib.parse.urlsplit(url)
    return parts.hostname, parts.path + (f"?{parts.query}" if parts.query else "")


def hits(path):
    """Requests of the web's log, by place."""
    count = collections.Counter()
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == "H" and len(fields) >= 8:
                count[(fields[4].partition(":")[0], urllib.parse.unquote(fields[7], errors="surrogateescape"))] += 1
    return count


def wait_for_quiet(path):
    """The web writes its log a moment later, and requests that a kill cut off when they would have ended."""
    deadline = time.monotonic() + 20
    size, since = -1, time.monotonic()
    while time.monotonic() - since < 0.5 and time.monotonic() < deadline:
        if path.stat().st_size != size:
            size, since = path.stat().st_size, time.monotonic()
        time.sleep(0.05)


def checkpointed_log(directory):
    """Fetches that the last checkpoint knows of, by place: the log up to the length in the newest manifest."""
    manifest = sorted(path for path in directory.glob("state/MANIFEST-*") if path.name[9:].isdigit())[-1]
    numbers = {}
    section = ""
    for line in manifest.read_text().splitlines():
        words = line.split()
        if words[0] == "section":
            section = words[1]
        elif words[0] == "number" and section == "log":
            numbers[words[1]] = int(words[2])
    count = collections.Counter()
    for path in sorted(directory.glob("log/crawl-*.jsonl*")):
        serial = int(path.name.split(".")[0].split("-")[1])
        packed = path.name.endswith(".gz")
        if serial > numbers["0.serial"] or path.name.endswith(".tmp") or (packed and path.with_suffix("").exists()):
            continue
        data = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
        if serial == numbers["0.serial"] and numbers["0.length"] > 0:
            data = data[:numbers["0.length"]]
        for line in data.splitlines():
            fetch = json.loads(line)
            if "ms" in fetch:  # it came to a fetch
                count[place(fetch["url"])] += 1
    return count


def archived(directory):
    return collections.Counter(place(values["url"]) for _, _, values in crawls.captures(directory))


class Soak:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.random = random.Random(options.seed)
        self.world = ["--profile", "demo", "--seed", options.seed, "--set", f"pages={options.pages}",
                      "--set", f"domains={max(40, options.pages // 40)}", "--set", "https=0",
                      *(part for pair in options.world for part in ("--set", pair))]
        self.limit = 120 + options.pages // 50 + 10 * options.kills  # seconds, for anything

    def command(self, web, directory):
        return [str(part) for part in
                [self.options.program, "crawl", *web.flags(), "--scope", "any", "--delay", GAP, "--ip-delay", IP_GAP,
                 "--max-pages", "0", "--set", "politeness.delay_factor=0", "--set", "checkpoint.interval=1s",
                 "--set", "archive.file_size=8M", "--connections", "128",
                 *(part for pair in self.options.set for part in ("--set", pair)),
                 "--dir", directory, "--json", "--quiet", *web.ready["seeds"]]]

    def web(self, name):
        folder = self.folder / name
        folder.mkdir()
        return crawls.Web(self.options.program, folder, *self.world, max_seconds=2 * self.limit)

    def undisturbed(self):
        """What the archive of such a crawl holds, and how long it takes."""
        directory = self.folder / "undisturbed"
        with self.web("first_web") as web:
            done = crawls.run(*self.command(web, directory), timeout=self.limit)
        expect(done.returncode == 0, f"the undisturbed crawl: {done.stderr}")
        summary = json.loads(done.stdout)
        return archived(directory), summary["seconds"]

    def check(self, directory):
        done = crawls.run(self.options.program, "check", directory, "--json", timeout=self.limit)
        expect(done.returncode == 0, f"portolan check: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def run_and_kill(self, command, seconds):
        """True when the kill came before the end."""
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, error = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return True
        expect(process.returncode == 0, f"the crawl ended by itself: {process.returncode} {error}")
        return False

    def run(self):
        expected, seconds = self.undisturbed()
        directory = self.folder / "crawl"
        kills = 0
        lost = collections.Counter()
        # A run that is shorter than a checkpoint's interval gets nowhere. These get somewhere on average, and the last
        # kills still meet a crawl that is at work.
        mean = max(1.4, seconds / (self.options.kills + 1))
        with self.web("web") as web:
            command = self.command(web, directory)
            for number in range(self.options.kills):
                # Now and then in the first moments, where recovery itself is at work.
                early = number > 0 and self.random.random() < 0.2
                moment = self.random.uniform(0.02, 0.3) if early else self.random.uniform(0.5, 2 * mean - 0.5)
                if number == 0:
                    moment = max(moment, 1.6)  # past the first checkpoint with pages in it
                if not self.run_and_kill(command, moment):
                    break
                kills += 1
                command = [str(part) for part in [self.options.program, "resume", directory, "--json", "--quiet"]]
                if kills % self.options.check_every == 0:
                    self.check(directory)
                wait_for_quiet(web.log)
                lost = hits(web.log) - checkpointed_log(directory)
            done = crawls.run(self.options.program, "resume", directory, "--json", "--quiet", timeout=self.limit)
            expect(done.returncode == 0, f"the last resume: {done.stderr}")
            summary = json.loads(done.stdout)
        expect(summary["state"] == "done", summary["state"])
        expect((summary["waiting"], summary["unanswered"], summary["at_gate"]) == (0, 0, 0), "something is left")

        found = self.check(directory)
        expect(found["captures_repeated"] == 0, f"{found['captures_repeated']} captures are there twice")
        expect(found["torn_bytes"] == 0, "a finished crawl has torn files")
        got = archived(directory)
        expect(got == expected, f"the archive: missing {list((expected - got).items())[:5]}, "
                                f"too many {list((got - expected).items())[:5]}")
        judged = crawls.run(self.options.program, "sim", "check", "--log", web.log, "--json", "--host-gap", GAP,
                            "--ip-gap", IP_GAP, "--connections", "1", "--crawl-delay", "--complete", timeout=self.limit)
        account = json.loads(judged.stdout)
        expect(judged.returncode == 0 and account["violations"] == 0, f"the oracle: {account['offences']}")
        # Lost fetches only add up, so those of the last kill are all there ever were.
        again = hits(web.log) - checkpointed_log(directory)
        unexplained = again - lost
        expect(not unexplained, f"fetched again without need: {list(unexplained.items())[:5]}")
        return {"pages": summary["pages"], "kills": kills, "requests": sum(hits(web.log).values()),
                "fetched_again": sum(again.values()), "archived": sum(got.values()),
                "checkpoint_longest_ms": summary["checkpoint_longest_ms"],
                "undisturbed_s": round(seconds, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check-every", type=int, default=1, help="portolan check after each so many kills")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the crawl")
    parser.add_argument("--world", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the web")
    parser.add_argument("--folder", help="where to work (default: a temporary one)")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder or tempfile.mkdtemp(prefix="portolan-soak-"))
    folder.mkdir(exist_ok=True)
    began = time.monotonic()
    try:
        result = Soak(options, folder).run()
    except Failed as failed:
        print(f"soak: {failed}\nsoak: everything is in {folder}", file=sys.stderr)
        return 1
    result["seconds"] = round(time.monotonic() - began, 1)
    print(json.dumps(result))
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
