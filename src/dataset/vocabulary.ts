import type * as RDF from "@rdfjs/types";
import { readFileSync } from "node:fs";
import { packageFile } from "../package-file.ts";
import { parseTurtle } from "../rdf/turtle.ts";
import { fedway } from "../rdf/vocabularies.ts";

const file = packageFile("catalog/vocabulary/fedway.ttl");
let known: readonly RDF.Quad[] | undefined;

/** Fedway's own terms with labels and descriptions. */
export function vocabularyQuads(): readonly RDF.Quad[] {
  known ??= parseTurtle(readFileSync(file, "utf8"), {
    baseIri: fedway.namespace,
    maxBytes: 1_000_000,
    maxQuads: 10_000,
  });
  return known;
}
