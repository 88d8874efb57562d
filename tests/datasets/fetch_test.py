#!/usr/bin/env python3
"""Tests datasets/fetch with a local server that cuts connections, sends wrong data, or is down."""
import gzip
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
FETCH = os.path.join(ROOT, "datasets/fetch")
COMMAND = os.path.abspath(os.environ.get("TEST_SLIMGRAPH_COMMAND", "build/release/slimgraph"))
WEBGRAPH = os.path.join(ROOT, "tests/files/webgraph")

LABELLED = b"# t 1\nt # 1\nv 0 7\nv 1 7\nv 2 5\nv 9 5\ne 0 1 3\ne 2 1 4.5\n"


class Handler(http.server.BaseHTTPRequestHandler):
    files = {}        # by path
    cut_after = None  # the server closes the connection after so many bytes of an answer
    ranges = True     # whether the server supports Range requests
    tag = '"1"'
    asked = []        # (path, Range) of each request

    def do_GET(self):
        cls = type(self)
        wanted = self.headers.get("Range")
        cls.asked.append((self.path, wanted))
        if self.path not in cls.files:
            self.send_error(404)
            return
        body = cls.files[self.path]
        part = wanted and cls.ranges and self.headers.get("If-Range") == cls.tag
        first = int(wanted.removeprefix("bytes=").rstrip("-")) if part else 0
        self.send_response(206 if part else 200)
        self.send_header("Content-Length", str(len(body) - first))
        self.send_header("ETag", cls.tag)
        self.end_headers()
        body = body[first:]
        self.wfile.write(body if cls.cut_after is None else body[:cls.cut_after])

    def log_message(self, *_):
        pass


def house():
    with open(os.path.join(ROOT, "datasets/tiny/house.txt"), "rb") as file:
        return file.read()


class Scene:
    """A server, a catalogue of the files on it, and a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        at = f"http://127.0.0.1:{self.server.server_port}"
        lists = open(os.path.join(WEBGRAPH, "default.graph"), "rb").read()
        properties = open(os.path.join(WEBGRAPH, "default.properties"), "rb").read()
        sums = "".join(f"{hashlib.md5(data).hexdigest()}  web.{end}\n"
                       for data, end in ((lists, "graph"), (properties, "properties")))
        Handler.files = {"/house.txt.gz": gzip.compress(house() + b"# end\n" * 20000, 0),
                         "/web.graph": lists, "/web.properties": properties,
                         "/labelled.lg": LABELLED,
                         "/web.md5sums": sums.encode()}
        Handler.cut_after, Handler.ranges, Handler.tag = None, True, '"1"'
        Handler.asked = []
        catalogue = {
            "house": {"vertices": 5, "edges": 6, "directed": False, "page": "a page",
                      "files": [at + "/house.txt.gz"], "convert": ["house.txt.gz", "--undirected"]},
            "web": {"vertices": 96, "edges": 799, "directed": True, "page": "a page",
                    "files": [at + "/web.properties", at + "/web.graph"],
                    "md5sums": at + "/web.md5sums", "convert": ["web.graph"]},
            "moved": {"vertices": 1, "edges": 1, "directed": True, "page": "a page",
                      "files": [at + "/gone.gz"], "convert": ["gone.gz"]},
            "labelled": {"vertices": 4, "edges": 2, "directed": False, "page": "a page",
                         "files": [at + "/labelled.lg"],
                         "git_blobs": {"labelled.lg": hashlib.sha1(
                             b"blob %d\0" % len(LABELLED) + LABELLED).hexdigest()},
                         "convert": ["labelled.edges", "--undirected"],
                         "vertices_from": "labelled.vertices"},
            "dark": {"vertices": 1, "edges": 1, "directed": True, "page": "a page",
                     "files": ["http://127.0.0.1:1/x.gz"], "convert": ["x.gz"]}}
        self.catalogue = os.path.join(folder, "graphs.json")
        with open(self.catalogue, "w", encoding="utf-8") as file:
            json.dump(catalogue, file)

    def fetch(self, *words):
        return subprocess.run(
            [FETCH, *words, "-o", os.path.join(self.folder, "out"), "--catalogue", self.catalogue,
             "--slimgraph", COMMAND], capture_output=True, text=True, check=False, timeout=60,
            env={**os.environ, "FETCH_PAUSE_S": "0.01"})

    def out(self, name):
        return os.path.join(self.folder, "out", name)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def expect(done, code, *says):
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    for words in says:
        assert words in done.stdout + done.stderr, (words, done.stdout, done.stderr)
    if code:
        assert done.stderr.count("\n") == 1, done.stderr


def an_interrupted_download_resumes(scene):
    size = len(Handler.files["/house.txt.gz"])
    Handler.cut_after = size // 4 + 1
    expect(scene.fetch("house", "--convert"), 0, "is a complete .gz", "as many vertices and edges")
    starts = [wanted for _, wanted in Handler.asked]
    assert starts[0] is None and len(starts) == 4, starts
    assert starts[1] == f"bytes={size // 4 + 1}-", starts
    assert not os.path.exists(scene.out("house.txt.gz.part"))


def a_later_call_resumes(scene):
    Handler.cut_after = 1000
    expect(scene.fetch("house"), 4, "kept, and the same command continues from there")
    assert os.path.getsize(scene.out("house.txt.gz.part")) == 5000
    Handler.cut_after = None
    Handler.asked = []
    expect(scene.fetch("house"), 0, "now: slimgraph convert")
    assert Handler.asked == [("/house.txt.gz", "bytes=5000-")], Handler.asked
    Handler.asked = []
    expect(scene.fetch("house"), 0)
    assert not Handler.asked, "it was there already"


def a_changed_file_is_downloaded_from_the_start(scene):
    Handler.cut_after = 1000
    expect(scene.fetch("house"), 4)
    Handler.cut_after, Handler.tag = None, '"2"'
    expect(scene.fetch("house", "--convert"), 0, "as many vertices and edges")


def without_range_support_the_download_restarts(scene):
    Handler.cut_after = 1000
    expect(scene.fetch("house"), 4)
    Handler.cut_after, Handler.ranges = None, False
    expect(scene.fetch("house", "--convert"), 0, "as many vertices and edges")


def checksums_are_the_publishers(scene):
    expect(scene.fetch("web", "--convert"), 0, "matches its publisher's checksum",
           "as many vertices and edges")
    shutil.rmtree(os.path.join(scene.folder, "out"))
    broken = bytearray(Handler.files["/web.graph"])
    broken[100] ^= 1
    Handler.files["/web.graph"] = bytes(broken)
    expect(scene.fetch("web"), 1, "its checksum is not the publisher's")
    assert not os.path.exists(scene.out("web.graph"))


def labels_are_dropped_and_isolated_vertices_kept(scene):
    expect(scene.fetch("labelled", "--convert"), 0, "matches its publisher's checksum",
           "has 4 vertices, made of 2 edges")
    shutil.rmtree(os.path.join(scene.folder, "out"))
    Handler.files["/labelled.lg"] = LABELLED.replace(b"e 0", b"e 9")
    expect(scene.fetch("labelled"), 1, "its checksum is not the publisher's")


def a_truncated_gz_is_detected(scene):
    Handler.files["/house.txt.gz"] = Handler.files["/house.txt.gz"][:-9]
    expect(scene.fetch("house"), 1, "house.txt.gz.bad")


def counts_are_compared_with_the_catalogue(scene):
    Handler.files["/house.txt.gz"] = gzip.compress(house() + b"98 99\n")
    expect(scene.fetch("house", "--convert"), 1, "vertices, but the publisher says 5")


def errors_say_what_to_do(scene):
    expect(scene.fetch("dark"), 4, "Is there a network?", "Connection refused")
    expect(scene.fetch("moved"), 4, "404", "where it has moved")
    expect(scene.fetch("luck"), 2, "there is no graph 'luck'")
    expect(scene.fetch(), 0, "nodes of 16 GiB", "labelled")


def the_catalogue_of_the_tree_is_complete(_):
    with open(os.path.join(ROOT, "datasets/graphs.json"), encoding="utf-8") as file:
        graphs = json.load(file)
    for name, graph in graphs.items():
        names = [os.path.basename(url).replace(".lg", ".edges") for url in graph["files"]]
        assert graph["convert"][0] in names, name
        assert graph["vertices"] > 0 and graph["edges"] > 0, name


def main():
    tests = [an_interrupted_download_resumes, a_later_call_resumes,
             a_changed_file_is_downloaded_from_the_start,
             without_range_support_the_download_restarts, checksums_are_the_publishers,
             labels_are_dropped_and_isolated_vertices_kept, a_truncated_gz_is_detected,
             counts_are_compared_with_the_catalogue, errors_say_what_to_do,
             the_catalogue_of_the_tree_is_complete]
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="slimgraph-fetch-") as folder:
            scene = Scene(folder)
            try:
                test(scene)
            except AssertionError as wrong:
                print(f"FAILED: {test.__name__}: {wrong}")
                failed += 1
            finally:
                scene.close()
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
