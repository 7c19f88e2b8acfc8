"""pyoxigraph or rdflib behind the SPARQL Protocol: server.py ENGINE FILE PORT, where FILE is N-Quads."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

ROWS = "application/sparql-results+json"
TRIPLES = "application/n-triples"


def oxigraph(path):
    from pyoxigraph import QueryTriples, RdfFormat, Store, QueryResultsFormat

    store = Store()
    store.load(path=path, format=RdfFormat.N_QUADS)

    def evaluate(query):
        answer = store.query(query)
        if isinstance(answer, QueryTriples):
            return TRIPLES, answer.serialize(format=RdfFormat.N_TRIPLES)
        return ROWS, answer.serialize(format=QueryResultsFormat.JSON)

    return evaluate


def rdflib(path):
    from threading import Lock

    from rdflib import Dataset

    dataset = Dataset()
    dataset.parse(path, format="nquads")
    lock = Lock()

    def evaluate(query):
        with lock:
            answer = dataset.query(query)
            if answer.type in ("CONSTRUCT", "DESCRIBE"):
                return TRIPLES, answer.serialize(format="nt")
            return ROWS, answer.serialize(format="json")

    return evaluate


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(parse_qs(urlsplit(self.path).query, keep_blank_values=True)["query"][0])

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if not self.headers["Content-Type"].startswith("application/sparql-query"):
            body = parse_qs(body, keep_blank_values=True)["query"][0]
        self.answer(body)

    def answer(self, query):
        status = 200
        try:
            media_type, body = evaluate(query)
        except Exception as failure:
            status, media_type, body = 500, "text/plain; charset=utf-8", str(failure).encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


evaluate = {"pyoxigraph": oxigraph, "rdflib": rdflib}[sys.argv[1]](sys.argv[2])
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Handler).serve_forever()
