"""What we write is read by an independent program: warcio.js, from npm.

usage: read_back_test.py PORTOLAN WRITE_SAMPLE SCRATCH

The package is installed once into SCRATCH from the lock file beside this test. Exit code 77 (skipped) where node or npm
is missing, or the package cannot be fetched.
"""

import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


def install(scratch):
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")
    lock = (HERE / "package-lock.json").read_text()
    mark = scratch / "installed-lock.json"
    if mark.exists() and mark.read_text() == lock and (scratch / "node_modules" / "warcio").is_dir():
        return
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, scratch / name)
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=scratch,
                          capture_output=True, text=True, timeout=280)
    if done.returncode != 0:
        skip("npm ci failed: " + (done.stderr.strip().splitlines() or ["no reason"])[-1])
    mark.write_text(lock)


def lines(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{command[0]}: exit code {done.returncode}\n{done.stderr}"
    return done.stdout.splitlines()


def check(portolan, write_sample, scratch, name):
    path = scratch / name
    lines(write_sample, path)
    ours = [json.loads(line) for line in lines(portolan, "warc", "ls", "--json", path)]
    theirs = [json.loads(line) for line in lines("node", scratch / "read_back.mjs", path)]
    assert len(ours) == len(theirs) == 39, (len(ours), len(theirs))
    for mine, other in zip(ours, theirs):
        for key in ("type", "offset", "length"):
            assert mine[key] == other[key], (name, key, mine, other)
        for key, theirs_key in (("uri", "uri"), ("id", "id"), ("date", "date"), ("status", "status"), ("digest", "declared")):
            assert mine.get(key) == other[theirs_key], (name, key, mine, other)
        if other["declared"] and other["type"] != "revisit":
            assert other["declared"] == other["payload_sha1"], (name, other)
    assert sum(1 for other in theirs if other["truncated"] == "length") == 1
    assert sum(1 for other in theirs if other["ip"] == "2001:db8::7") == 6

    # The page that a revisit refers to is there, and the digest that it repeats.
    pages = {(other["uri"], other["date"]): other for other in theirs if other["type"] == "response"}
    revisits = [other for other in theirs if other["type"] == "revisit"]
    assert [other["profile"].rsplit("/", 1)[1] for other in revisits] == ["identical-payload-digest", "server-not-modified"]
    assert [other["status"] for other in revisits] == [200, 304]
    for other in revisits:
        page = pages[(other["refers_to_uri"], other["refers_to_date"])]
        assert page["declared"] == other["declared"], (name, page, other)

    # Its indexer and ours agree on every line.
    cli = scratch / "node_modules" / "warcio" / "dist" / "cli.js"
    index = sorted(lines("node", cli, "cdx-index", path))
    mine = lines(portolan, "warc", "index", "--style", "warcio", path)
    assert index == mine, "\n".join(["theirs:", *index[:3], "ours:", *mine[:3]])
    assert len(mine) == 14, len(mine)
    print(f"{name}: {len(ours)} records and {len(mine)} index lines, the same for both readers")


def main():
    portolan, write_sample, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    scratch.mkdir(parents=True, exist_ok=True)
    install(scratch)
    shutil.copy(HERE / "read_back.mjs", scratch / "read_back.mjs")
    for name in ("sample.warc.gz", "sample.warc"):
        check(portolan, write_sample, scratch, name)
        faults = subprocess.run([portolan, "warc", "check", str(scratch / name)], capture_output=True, text=True)
        assert faults.returncode == 0, faults.stdout


if __name__ == "__main__":
    main()
