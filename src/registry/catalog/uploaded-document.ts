import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { CatalogDocument } from "./catalog.ts";
import { reasonOf } from "./catalog-problem.ts";
import { describeDocument } from "./describe-document.ts";
import { EntryProblem } from "./statements.ts";

/**
 * What a document is about, for requests that do not say where it goes.
 * @throws FedwayError `ENTRY_INVALID` when it cannot be a catalogue document
 */
export function identifyDocument(quads: readonly RDF.Quad[]): Pick<CatalogDocument, "kind" | "id"> {
  try {
    const { kind, id } = describeDocument(quads);
    return { kind, id };
  } catch (problem) {
    if (!(problem instanceof EntryProblem) && !(problem instanceof FedwayError)) throw problem;
    throw new FedwayError("ENTRY_INVALID", reasonOf(problem));
  }
}
