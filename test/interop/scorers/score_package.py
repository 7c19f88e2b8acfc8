"""Reads a package with the tools of the field, unchanged, and scores its own queries: score_package.py TOOL PACKAGE ENDPOINT

Prints a JSON object.
"""

import hashlib
import itertools
import json
import sys
from decimal import Decimal
from pathlib import Path

from rdflib import Graph, Namespace
from rdflib.plugins.sparql import prepareQuery

XSD = "http://www.w3.org/2001/XMLSchema#"


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def t2s_metrics(package: Path, endpoint: str) -> dict:
    from t2smetrics.core.eval import JsonlEval
    from t2smetrics.core.experiment import Experiment
    from t2smetrics.execution.sparql_endpoint_backend import SparqlEndpointBackend
    from t2smetrics.metrics import AnswerSetF1

    def f1(name: str) -> dict[str, float]:
        cases = JsonlEval(str(package / "exports" / name))
        results, _ = Experiment(cases, [AnswerSetF1()], execution_backend=SparqlEndpointBackend(endpoint)).run()
        return {each.id: each.score for each in results}

    gold = package / "exports" / "t2s-metrics.gold.jsonl"
    wrong = lines(gold)
    wrong[0]["generated"] = wrong[0]["generated"] + " }"
    wrong[1]["generated"] = wrong[2]["generated"]
    (package / "exports" / "wrong.jsonl").write_text("".join(json.dumps(line) + "\n" for line in wrong))
    return {name: f1(f"{name}.jsonl") for name in ("t2s-metrics.gold", "t2s-metrics.trivial", "wrong")}


def text2sparql(package: Path, endpoint: str) -> dict:
    import yaml
    from text2sparql_client.commands.query import generate_pred_result_set, generate_true_result_set
    from text2sparql_client.models.questions_file import QuestionsFile
    from text2sparql_client.utils.evaluation_metrics import Evaluation

    dataset = yaml.safe_load((package / "exports" / "text2sparql.yaml").read_text())
    model = QuestionsFile.model_validate(dataset)
    generated = [line["generated"] for line in lines(package / "exports" / "t2s-metrics.gold.jsonl")]

    def f1(queries: list[str]) -> float:
        names = [f"{model.dataset.prefix}:{question.id}-en" for question in model.questions]
        answers = [{"qname": name, "query": query} for name, query in zip(names, queries, strict=True)]
        true = generate_true_result_set(dataset, endpoint, ["en"])
        predicted = generate_pred_result_set(answers, dataset, endpoint, ["en"])
        true.pop("order_required", None)
        # It divides by the size of an answer: two empty ones are equal.
        empty = [name for name, found in true.items() if not found]
        both = sum(not predicted.pop(name) for name in empty)
        for name in empty:
            del true[name]
        average = Evaluation("system").evaluate(predicted, true)["average"]["set_F"]
        return (average * len(true) + both) / len(names)

    return {"questions": len(model.questions), "gold": f1(generated), "wrong": f1(generated[1:] + generated[:1])}


def exports(package: Path, endpoint: str) -> dict:
    questions = json.loads((package / "exports" / "qald.json").read_text())["questions"]
    for question in questions:
        prepareQuery(question["query"]["sparql"])
    sh = Namespace("http://www.w3.org/ns/shacl#")
    graph = Graph().parse(package / "exports" / "shacl.ttl")
    executables = list(graph.subjects(predicate=None, object=sh.SPARQLExecutable))
    for node in executables:
        prepareQuery(str(graph.value(node, sh.select)))
    rows = {question["id"]: len(question["answers"][0]["results"]["bindings"]) for question in questions}
    return {"rows": rows, "executables": len(executables)}


def canonical(term) -> str:
    from rdflib import URIRef

    if term is None:
        return ""
    if isinstance(term, URIRef):
        return f"<{term}>"
    quoted = json.dumps(str(term), ensure_ascii=False)
    if term.language:
        return f"{quoted}@{term.language.lower()}"
    datatype = str(term.datatype or XSD + "string")
    if datatype == XSD + "integer":
        return str(int(term))
    if datatype in (XSD + "decimal", XSD + "double", XSD + "float"):
        number = float(term)
        return str(int(number)) if number.is_integer() else repr(float(f"{Decimal(str(term)):.9e}"))
    return quoted if datatype == XSD + "string" else f"{quoted}^^<{datatype}>"


def signature(rows: list[list[str]]) -> str:
    """Of the set of rows, in the order of columns that makes it smallest among those sorted by their values."""

    def text(values) -> str:
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

    columns = list(zip(*rows, strict=True))
    values = [text(sorted(set(column))) for column in columns]
    orders = [order for order in itertools.permutations(range(len(columns))) if [values[at] for at in order] == sorted(values)]
    sets = ["\n".join(sorted({text([row[at] for at in order]) for row in rows})) for order in orders]
    return hashlib.sha256(min(sets, default="").encode()).hexdigest()


def signatures(package: Path, endpoint: str) -> dict:
    """Whether rdflib finds the signature of each gold answer, with the original query over all data."""
    whole = Graph()
    for file in sorted((package / "build" / "shards").iterdir()):
        whole.parse(file, format="nt")
    found = {}
    for query in lines(package / "queries.jsonl"):
        result = whole.query(query["query"])
        rows = [[canonical(binding.get(name)) for name in result.vars] for binding in result.bindings]
        found[query["id"]] = [signature(rows), query["answer"]["signature"]]
    return found


if __name__ == "__main__":
    tool, folder, url = sys.argv[1:]
    print(json.dumps(globals()[tool](Path(folder), url)))
