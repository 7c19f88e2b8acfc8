import type * as RDF from "@rdfjs/types";
import { dcat, fedway, rdf } from "../../rdf/vocabularies.ts";
import type { CatalogEntry, Federation } from "./catalog.ts";
import { describeEntry } from "./describe-entry.ts";
import { describeFederation } from "./describe-federation.ts";
import { EntryProblem, statementsAbout } from "./statements.ts";

/** What one catalogue document describes. */
export type Described =
  | { readonly kind: "endpoint"; readonly id: string; readonly value: CatalogEntry }
  | { readonly kind: "federation"; readonly id: string; readonly value: Federation };

/**
 * The one endpoint or federation that a document describes.
 * @throws EntryProblem with the reason, in words for the operator
 */
export function describeDocument(quads: readonly RDF.Quad[]): Described {
  const { class: type, subject } = theOneThing(quads);
  const statements = statementsAbout(subject, quads);
  refuseWhatIsNotKept(quads);
  if (type === dcat.DataService) {
    const value = describeEntry(statements);
    return { kind: "endpoint", id: value.id, value };
  }
  const value = describeFederation(statements);
  return { kind: "federation", id: value.id, value };
}

interface TypedSubject {
  readonly class: string;
  readonly subject: RDF.Term;
}

function theOneThing(quads: readonly RDF.Quad[]): TypedSubject {
  const found = new Map<string, TypedSubject>();
  for (const { subject, predicate, object } of quads) {
    if (predicate.value !== rdf.type || (object.value !== dcat.DataService && object.value !== fedway.Federation))
      continue;
    found.set(`${object.value} ${subject.termType} ${subject.value}`, { class: object.value, subject });
  }
  const [only] = found.values();
  if (only === undefined) {
    throw new EntryProblem("The document describes no dcat:DataService and no fedway:Federation.");
  }
  if (found.size > 1) {
    throw new EntryProblem(
      `The document describes ${found.size} services or federations; one document is one endpoint or federation.`,
    );
  }
  return only;
}

/** RDF 1.2 has terms that JSON-LD 1.1 and RDF 1.1 readers lose; named graphs have no place in Turtle. */
function refuseWhatIsNotKept(quads: readonly RDF.Quad[]): void {
  for (const { subject, object, graph } of quads) {
    if (graph.termType !== "DefaultGraph") throw new EntryProblem("The document has a named graph.");
    const isTriple = subject.termType === "Quad" || object.termType === "Quad";
    if (isTriple) throw new EntryProblem("The document has a triple term (RDF 1.2), which could not be kept.");
    if (
      object.termType === "Literal" &&
      object.direction !== undefined &&
      object.direction !== null &&
      object.direction !== ""
    ) {
      throw new EntryProblem("The document has a text with a base direction (RDF 1.2), which could not be kept.");
    }
  }
}
