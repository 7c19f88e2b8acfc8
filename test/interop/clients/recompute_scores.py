"""Recomputes accuracy from a package and its runs, with rdflib and nothing of Fedway.

Usage: recompute_scores.py PACKAGE RUN. Prints a JSON object by question and repeat: {"right", "multiset", "f1"}. Errors count as wrong.
"""

import gzip
import itertools
import json
import pathlib
import re
import sys
from collections import Counter
from decimal import Decimal

import rdflib

package, run = (pathlib.Path(word) for word in sys.argv[1:3])
XSD = "http://www.w3.org/2001/XMLSchema#"
WHOLE = {XSD + name for name in "integer int long short byte nonNegativeInteger positiveInteger".split()}
REAL = {XSD + name for name in "decimal double float".split()}


def lines(path):
    return [json.loads(line) for line in path.read_text().split("\n") if line]


manifest = json.loads((package / "manifest.json").read_text())
federation = f"{manifest['baseUrl']}/federations/{manifest['dataset']}/sparql"
urls = {each["id"]: each["url"] for each in json.loads((package / "endpoints.json").read_text())}
answers = {each["id"]: each.get("answer") for each in lines(package / "queries.jsonl")}
query_of = {each["id"]: each["query"] for each in lines(package / "questions.jsonl")}


def load():
    """The shards as named graphs; their union is the default graph."""
    data = rdflib.Dataset(default_union=True)
    for shard in json.loads((package / "build" / "manifest.json").read_text())["shards"]:
        content = (package / "build" / shard["file"]).read_bytes()
        if shard["file"].endswith(".gz"):
            content = gzip.decompress(content)
        data.graph(rdflib.URIRef(urls[shard["id"]])).parse(data=content, format="nt")
    return data


def quoted(text):
    """A string as the package writes it (N-Triples)."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(character, character) for character in text) + '"'


def canonical(term):
    if term is None:
        return ""
    if isinstance(term, rdflib.URIRef):
        return f"<{term}>"
    if isinstance(term, rdflib.BNode):
        return "_:"
    if term.language:
        return f"{quoted(str(term))}@{term.language.lower()}"
    datatype = str(term.datatype or XSD + "string")
    if datatype == XSD + "string":
        return quoted(str(term))
    if datatype in WHOLE | REAL:
        return ("number", float(f"{Decimal(str(term).strip()):.9e}"))
    return f"{quoted(str(term))}^^<{datatype}>"


def gold_term(text):
    return ("number", float(f"{Decimal(text):.9e}")) if re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", text) else text


def overlap(classes, found):
    """Rows that are right, wanted and given; any `take` rows of a class are right."""
    left, right, wanted = Counter(found), 0, 0
    for take, rows in classes:
        taken = 0
        for row in rows:
            if taken < take and left[row] > 0:
                left[row] -= 1
                taken += 1
        right, wanted = right + taken, wanted + take
    return right, wanted, len(found)


def distinct(classes):
    seen, result = set(), []
    for take, rows in classes:
        fresh = [row for row in dict.fromkeys(rows) if row not in seen]
        seen.update(fresh)
        result.append((min(take, len(fresh)), fresh))
    return result


def compare(gold, columns, rows):
    golden = [tuple(map(gold_term, row)) for row in gold["rows"]]
    if not golden and not rows:
        return True, True, 1.0
    if len(columns) != len(gold["columns"]):
        return False, False, 0.0
    classes, at = [], 0
    for tie in gold.get("ties", [{"take": len(golden)}]):
        others = [tuple(map(gold_term, row)) for row in tie.get("others", [])]
        classes.append((tie["take"], golden[at : at + tie["take"]] + others))
        at += tie["take"]
    best = (False, False, 0.0)
    for order in itertools.permutations(range(len(columns))):
        found = [tuple(row[at] for at in order) for row in rows]
        right, wanted, given = overlap(distinct(classes), list(dict.fromkeys(found)))
        multiset = overlap(classes, found)
        score = (right == wanted == given, multiset[0] == multiset[1] == multiset[2], 2 * right / (wanted + given))
        best = max(best, score)
    return best


def score(data, gold, final):
    wrong = (False, False, 0.0)
    if final is None:
        return wrong
    text = re.sub(r"\bSERVICE\s+(?:SILENT\s+)?<" + re.escape(federation) + ">", "", final)
    text = re.sub(r"\bSERVICE\s+(?:SILENT\s+)?(?=<)", "GRAPH ", text)
    try:
        result = data.query(text)
        if result.type == "ASK":
            equal = gold["kind"] == "boolean" and result.askAnswer == gold["value"]
            return equal, equal, float(equal)
        rows = [tuple(canonical(binding.get(name)) for name in result.vars) for binding in result.bindings]
    except Exception:  # Whatever is wrong with the query, it has no answer.
        return wrong
    return compare(gold, result.vars, rows) if gold["kind"] == "bindings" else wrong


data = load()
report = {}
for record in lines(run / "runs.jsonl"):
    gold = answers[query_of[record["question"]]]
    if gold is not None:
        right, multiset, f1 = score(data, gold, record["final"])
        report[f"{record['question']} {record['repeat']}"] = {"right": right, "multiset": multiset, "f1": round(f1, 9)}
print(json.dumps(report))
