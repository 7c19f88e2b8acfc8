import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogDocument } from "./catalog.ts";
import { reasonOf } from "./catalog-problem.ts";
import { describeDocument } from "./describe-document.ts";
import { parseDocument } from "./parse-document.ts";
import { EntryProblem } from "./statements.ts";

/**
 * The triples of a document that somebody sent in Turtle; relative IRIs are this service's own, as in a file.
 * @throws FedwayError `ENTRY_INVALID`, for syntax errors with `where.line`
 */
export function parseUploadedTurtle(turtle: string, baseUrl: string): readonly RDF.Quad[] {
  return refusing(() => parseDocument(turtle, baseUrl));
}

/**
 * What a document is about, for requests that do not say where it goes.
 * @throws FedwayError `ENTRY_INVALID` when it cannot be a catalogue document
 */
export function identifyDocument(quads: readonly RDF.Quad[]): Pick<CatalogDocument, "kind" | "id"> {
  const { kind, id } = refusing(() => describeDocument(quads));
  return { kind, id };
}

function refusing<Result>(step: () => Result): Result {
  try {
    return step();
  } catch (problem) {
    if (!(problem instanceof EntryProblem) && !(problem instanceof FedwayError)) throw problem;
    const where = problem instanceof FedwayError ? problem.details.where : undefined;
    throw new FedwayError("ENTRY_INVALID", reasonOf(problem), { ...(where && { where }) });
  }
}
