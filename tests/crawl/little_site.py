"""A web server of a few pages on this machine, for tests that define the answer of each page."""

import http.server
import threading


class Site:
    """Answers from `pages`: path -> text, or (status, headers, text), or a function of no arguments that gives either.

    `slow` is a pause in seconds before each answer but robots.txt's. `asked` are the paths, as they came.
    """

    def __init__(self, pages, slow=0.0):
        self.pages = dict(pages)
        self.slow = slow
        self.asked = []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                site.asked.append(self.path)
                if self.path != "/robots.txt" and site.slow > 0:
                    site.ending.wait(site.slow)
                answer = site.pages.get(self.path, (404, {}, "nothing here"))
                if callable(answer):
                    answer = answer()
                if isinstance(answer, str):
                    answer = (200, {}, answer)
                status, headers, text = answer
                body = text.encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True  # the crawl has gone

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass

        self.ending = threading.Event()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def close(self):
        self.ending.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def chain(count, more=""):
    """Pages /, /1, /2 … that lead one to the next."""
    pages = {"/robots.txt": ""}
    for i in range(count):
        path = "/" if i == 0 else f"/{i}"
        pages[path] = f"<title>{i}</title><a href='/{i + 1}'>on</a>{more}" if i + 1 < count else f"<p>the end{more}"
    return pages


# As fast as the server answers, however long the chain.
QUICK = ["--allow-private", "--max-depth", "none", "--delay", "0s", "--ip-delay", "0s", "--set", "politeness.delay_factor=0"]
