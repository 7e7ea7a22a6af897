"""Real pages on a real server, crawled to the end, and by wget2 too: who found what, and which links are broken.

usage: site_test.py PORTOLAN PAGES

PAGES is a folder of HTML files; the test is skipped (77) if it, nginx or wget2 is missing.
"""

import html
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
import urllib.parse

import crawls

CONFIG = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
  access_log off;
  default_type text/html;
  types {{ text/html html; text/plain txt; }}
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port}; root {folder}/site; keepalive_requests 100000; }}
}}
"""


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(crawls.SKIPPED)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def build(pages, site):
    """Real pages under names with blanks, dots and folders; each gets links to its neighbours and home. Links that the
    pages bring along lead mostly out of the site, or to nothing on it."""
    files = sorted(path for path in pages.rglob("*.html") if path.stat().st_size < 400_000)[:300]
    names = [f"{at % 7}/{'deep/' * (at % 4)}page {at}.html" if at % 5 == 0 else f"{at % 7}/{'deep/' * (at % 4)}p{at}.html"
             for at in range(len(files))]
    links = ["/" + urllib.parse.quote(name) for name in names]
    for at, path in enumerate(files):
        target = site / names[at]
        target.parent.mkdir(parents=True, exist_ok=True)
        added = [links[(at + 1) % len(links)], links[(at * 7 + 3) % len(links)], "/", "/private/no.html", "/missing.html"]
        added = "".join(f'<p><a href="{html.escape(link)}">next</a></p>' for link in added)
        # Before everything else: real pages may end within a comment or a script.
        target.write_bytes(b"<!doctype html><html><body>" + added.encode() + path.read_bytes())
    # The home page leads to a third of them; the others are found by the links between pages.
    listed = "".join(f'<li><a href="{html.escape(link)}">{at}</a>\n' for at, link in enumerate(links) if at % 3 == 0)
    (site / "index.html").write_text(f"<!doctype html><title>site</title><ul>{listed}</ul>")
    (site / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    (site / "private").mkdir()
    (site / "private" / "no.html").write_text("secret")
    return links


def plain(url):
    return urllib.parse.unquote(url.split("#")[0])


def wget2(base, folder):
    """The URLs that wget2 got with status 200; and those that failed, each with the page on which it was found."""
    report = folder / "wget2.csv"
    command = ["wget2", "--no-config", "--recursive", "--level=inf", "--no-parent", "--robots=on", "--tries=1", "--quiet",
               "--timeout=20", f"--stats-site=csv:{report}", "-P", folder / "wget2", base]
    subprocess.run([str(part) for part in command], check=False, timeout=120, capture_output=True)
    found = set()
    failed = {}
    names = {}
    for line in report.read_text(errors="replace").splitlines()[1:]:
        fields = line.split(",")  # number, parent, URL (which may hold commas), status, eight more
        if len(fields) < 12:  # a URL with a line end is broken in two
            continue
        url = plain(",".join(fields[2:-9]))
        names[fields[0]] = url
        if fields[-9] == "200":
            found.add(url)
        elif fields[-9].isdigit() and int(fields[-9]) >= 400:
            failed[url] = names.get(fields[1], "")
    return found, failed


def crawl(program, base, folder):
    done = crawls.run(program, "crawl", "--allow-private", "--delay", "0", "--ip-delay", "0", "--set",
                      "politeness.delay_factor=0", "--max-pages", "0", "--dir", folder / "crawl",
                      "--json", base)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["state"] == "done", report
    return report, crawls.log_lines(folder / "crawl")


def compare(program, base, site, links, folder):
    report, lines = crawl(program, base, folder)
    pages = [line for line in lines if line["kind"] == "page"]
    mine = {plain(line["url"]) for line in pages if line.get("status") == 200}
    asked = [line["url"] for line in pages if line["outcome"] != "robots_denied"]
    assert len(asked) == len(set(asked)), "a URL was fetched twice"

    # Everything that was built, by name; and what we call found is there.
    built = {base.rstrip("/") + plain(link) for link in links} | {base}
    assert built <= mine, sorted(built - mine)[:10]
    for url in mine:
        path = site / url[len(base):].split("?")[0]
        assert path.exists(), f"{url} is said to be there"
    denied = [line["url"] for line in pages if line["outcome"] == "robots_denied"]
    assert denied == [base + "private/no.html"], denied
    assert base + "missing.html" in {line["url"] for line in pages if line.get("status") == 404}
    # The archive has each page as it stands on the disk.
    captures = {values["url"]: values for _, _, values in crawls.captures(folder / "crawl")}
    for link in links[::10]:
        values = captures[base.rstrip("/") + link]
        if values["mime"] == "warc/revisit":
            continue  # another page has the same bytes
        record = crawls.member(folder / "crawl" / "warc" / values["filename"], int(values["offset"]), int(values["length"]))
        body = re.split(rb"\r\n\r\n", record, maxsplit=2)[2]
        assert (site / plain(link)[1:]).read_bytes() in body, link

    theirs, their_failures = wget2(base, folder)
    theirs -= {base + "robots.txt"}
    print(f"{len(links)} pages; portolan: {len(mine)} URLs with 200 in {report['seconds']:.2f} s, {len(pages)} asked for;",
          f"wget2: {len(theirs)} with 200")
    only_mine, only_theirs = sorted(mine - theirs), sorted(theirs - mine)
    for name, some in (("portolan", only_mine), ("wget2", only_theirs)):
        print(f"only {name}: {len(some)}", *some[:20], sep="\n  ")
    # wget2 keeps "&amp;" and fragments' leftovers in queries: the same file under a name that no page spells so.
    unexplained = [url for url in only_theirs if "&" not in url and "\\" not in url and "?" not in url]
    assert not unexplained, unexplained
    assert len(theirs & mine) > 0.9 * len(links), "wget2 found too little for a comparison"
    compare_broken(program, base, folder, their_failures)


def status_of(url):
    """What the server says, asked by neither of the two."""
    connection = http.client.HTTPConnection("127.0.0.1", urllib.parse.urlsplit(url).port, timeout=20)
    try:
        connection.request("GET", url[url.index("/", 8):])
        return connection.getresponse().status
    finally:
        connection.close()


def compare_text(program, crawl, pages):
    """`text` shows each page of the text log; its main text is part of its visible text."""
    main = [json.loads(line) for line in crawls.run(program, "text", crawl, "--json").stdout.splitlines()]
    visible = [json.loads(line) for line in crawls.run(program, "text", crawl, "--json", "--visible").stdout.splitlines()]
    assert len(main) == len(visible) == pages, (len(main), len(visible), pages)
    shorter = 0
    for part, whole in zip(main, visible):
        assert part["url"] == whole["url"]
        assert all(line in whole["text"] for line in part["text"].split("\n")), part["url"]
        shorter += len(part["text"]) < len(whole["text"])
    assert shorter > pages // 4, f"{shorter} of {pages} pages have text that is not main text"
    named = [page for page in main if page.get("language", "und") != "und"]
    assert len(named) > pages // 2, f"{len(named)} of {pages} pages have a language"
    one = named[0]
    shown = crawls.run(program, "text", crawl, one["url"])
    assert shown.returncode == 0 and one["url"] in shown.stdout, shown.stderr
    assert one["language"] in shown.stdout
    rows = crawls.run(program, "text", crawl, "--language", one["language"]).stdout.splitlines()
    assert len(rows) >= 1 and all(row.startswith(one["language"]) for row in rows), rows[:3]
    assert crawls.run(program, "text", crawl, "http://no.such.page/").returncode == 3


def compare_broken(program, base, folder, theirs):
    """`links --broken` against the failures of wget2: both follow images, scripts and style sheets here."""
    done = crawls.run(program, "crawl", "--allow-private", "--delay", "0", "--ip-delay", "0", "--set",
                      "politeness.delay_factor=0", "--max-pages", "0", "--set", "outputs.links=true", "--set",
                      "outputs.text=true", "--set", "scope.embeds=true", "--dir", folder / "linked", "--json", base)
    assert done.returncode == 0, done.stderr
    checked = crawls.run(program, "check", folder / "linked", "--json")
    assert checked.returncode == 0, checked.stdout
    counts = json.loads(checked.stdout)
    assert counts["link_log_pages"] >= counts["text_log_pages"] > 100, counts
    compare_text(program, folder / "linked", counts["text_log_pages"])
    listed = crawls.run(program, "links", folder / "linked", "--broken", "--json")
    assert listed.returncode == 0, listed.stderr
    broken = [json.loads(line) for line in listed.stdout.splitlines()]
    pairs = {(plain(link["source"]), plain(link["target"])) for link in broken}
    mine = {plain(link["target"]): link["target"] for link in broken}
    assert base + "missing.html" in mine
    # Each page that was built has that link, and each is listed with it.
    sources = {source for source, target in pairs if target == base + "missing.html"}
    assert len(sources) >= 200, len(sources)

    common = set(mine) & set(theirs)
    only_mine, only_theirs = sorted(set(mine) - set(theirs)), sorted(set(theirs) - set(mine))
    print(f"broken: portolan {len(mine)} targets on {len({source for source, _ in pairs})} pages, wget2 {len(theirs)};",
          f"{len(common)} in common")
    for name, some in (("portolan", only_mine), ("wget2", only_theirs)):
        print(f"broken only for {name}: {len(some)}", *some[:20], sep="\n  ")
    # wget2 names one page for each; we name all, and that one among them.
    wrong = [(theirs[url], url) for url in common if theirs[url] and (theirs[url], url) not in pairs]
    assert len(wrong) <= len(common) // 50, wrong[:10]
    # What only we report is what wget2 did not ask for: the server itself says that it is broken.
    for url in only_mine:
        assert status_of(mine[url]) >= 400, f"{url} is not broken"
    # What only wget2 reports are spellings that no page has ("&amp;" kept, blanks and backslashes taken literally), and
    # what it reads as a link and the standard does not.
    asked = {plain(line["url"]) for line in crawls.log_lines(folder / "linked")}
    unexplained = [url for url in only_theirs if url in asked]
    assert not unexplained, unexplained
    assert len(common) > 0.5 * min(len(mine), len(theirs)), "too little in common for a comparison"


def main():
    program, pages = sys.argv[1], pathlib.Path(sys.argv[2])
    nginx = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    for wanted, name in ((nginx, "nginx"), (shutil.which("wget2"), "wget2")):
        if wanted is None:
            skip(f"{name} is not installed")
    if not pages.is_dir():
        skip(f"{pages}: no pages here")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)  # nginx gives up being root
        site = folder / "site"
        site.mkdir()
        links = build(pages, site)
        port = free_port()
        (folder / "nginx.conf").write_text(CONFIG.format(folder=folder, port=port))
        server = subprocess.Popen([nginx, "-c", str(folder / "nginx.conf"), "-p", name], stderr=subprocess.DEVNULL)
        try:
            def answers():
                with socket.socket() as one:
                    return one.connect_ex(("127.0.0.1", port)) == 0

            crawls.wait_until(answers, 10, "nginx")
            compare(program, f"http://127.0.0.1:{port}/", site, links, folder)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=10)


if __name__ == "__main__":
    main()
