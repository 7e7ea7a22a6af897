"""PDF documents on a small site: text and links of good ones, a name for what is wrong with the others, and a crawl that
goes on while one of them stalls its reader.

usage: pdf_test.py PORTOLAN
"""

import http.server
import json
import pathlib
import sys
import tempfile
import unittest
import zlib

import crawls

PROGRAM = sys.argv.pop(1) if __name__ == "__main__" else None


def document(content, more=(), trailer=b"", entries=b""):
    """A PDF document of one page with one link, to /from-pdf."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
               b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [7 0 R] "
               b"/Resources << /Font << /F1 5 0 R >> >> >>",
               b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content),
               b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", b"<< /Title (The harbour) >>",
               b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (/from-pdf) >> >>", *more]
    pdf = b"%PDF-1.5\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(pdf))
        pdf += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(pdf)
    pdf += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for offset in offsets:
        pdf += b"%010d 00000 n \n" % offset
    return pdf + b"trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1, trailer, table)


SECRET = b"x" * 32
PDF = {
    "/good.pdf": document(b"BT /F1 12 Tf 72 700 Td (The harbour was built in 1874 and was the largest.) Tj ET"),
    "/locked.pdf": document(b"", [b"<< /Filter /Standard /V 1 /R 2 /P -44 /O (%s) /U (%s) >>" % (SECRET, SECRET)],
                            b"/Encrypt 8 0 R /ID [(%s) (%s)]" % (SECRET, SECRET)),
    "/broken.pdf": b"%PDF-1.4\nnothing",
    "/stall.pdf": document(zlib.compress(b"0 0 m " * 25_000_000), entries=b"/Filter /FlateDecode"),
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = PDF.get(self.path)
        kind = "application/pdf"
        if body is None:
            kind = "text/html"
            links = [*PDF, *(f"/page{n}" for n in range(20))] if self.path == "/" else []
            body = "".join(f'<a href="{link}">x</a>' for link in links).encode()
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Pdf(unittest.TestCase):
    def crawl(self, *flags):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        site = crawls.LocalServer(Handler)
        self.addCleanup(site.close)
        crawl = pathlib.Path(folder.name) / "crawl"
        done = crawls.run(PROGRAM, "crawl", "--allow-private", "--delay", "0", "--ip-delay", "0", "--set",
                          "politeness.delay_factor=0", "--set", "outputs.text=true", "--dir", crawl, *flags,
                          site.origin + "/")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = {line["url"].removeprefix(site.origin): line for line in crawls.log_lines(crawl)}
        texts = crawls.run(PROGRAM, "text", crawl, "--json")
        self.assertEqual(texts.returncode, 0, texts.stderr)
        pages = [json.loads(line) for line in texts.stdout.splitlines()]
        return lines, {page["url"].removeprefix(site.origin): page for page in pages}

    def test_each_document_has_its_outcome(self):
        lines, texts = self.crawl("--set", "page.pdf=true", "--set", "page.pdf_time=1s")
        self.assertEqual(len([path for path in lines if path.startswith("/page")]), 20)
        self.assertEqual(texts["/good.pdf"]["text"], "The harbour was built in 1874 and was the largest.")
        self.assertEqual(texts["/good.pdf"]["title"], "The harbour")
        self.assertEqual(texts["/good.pdf"]["language"], "en")
        self.assertIn("/from-pdf", lines, "the link of the document was followed")
        for path, detail in (("/locked.pdf", "pdf_encrypted"), ("/broken.pdf", "pdf_broken"),
                             ("/stall.pdf", "pdf_timeout")):
            self.assertEqual((lines[path]["status"], lines[path].get("detail")), (200, detail), path)
            self.assertNotIn(path, texts)
        self.assertNotIn("detail", lines["/good.pdf"])

    def test_off_by_default(self):
        lines, texts = self.crawl()
        self.assertEqual(lines["/good.pdf"]["status"], 200)
        self.assertNotIn("/from-pdf", lines)
        self.assertFalse(set(PDF) & set(texts))


if __name__ == "__main__":
    unittest.main(verbosity=2)
