import { bareMediaType } from "./negotiation.ts";
import { CsvScanner, TsvScanner } from "./scan-records.ts";
import { JsonScanner } from "./scan-json.ts";
import { createNTriplesScanner, createTrigScanner, createTurtleScanner } from "./scan-triples.ts";
import { XmlScanner } from "./scan-xml.ts";

/** Verdict of a scanner once the last byte has passed. */
export interface ScanVerdict {
  /** False when the document is certainly cut off, followed by foreign text, or no answer at all. */
  readonly complete: boolean;
  /** Solutions or triples seen; absent where the format does not tell without being parsed. Never a guess. */
  readonly rows?: number;
  /** Triples at most, where they are not counted one by one; absent where nothing is known. */
  readonly atMost?: number;
  /** One sentence about why the document is not complete. */
  readonly detail?: string;
  /** Words of the document that say so. */
  readonly words?: string;
  /** Words of a whole document that say that rows are missing. */
  readonly partial?: string;
  /** Rows that the document says there are. */
  readonly total?: number;
}

/** Looks at the decoded bytes of one answer as they pass by; keeps its head and O(1) state, and never a chunk. */
export interface AnswerScanner {
  /** Form of the answer, as soon as it shows; undefined for graphs, and where it does not show. */
  readonly form?: "bindings" | "boolean" | undefined;
  /** The columns, once they have passed; undefined before, and where the document does not name them. */
  readonly variables?: readonly string[] | undefined;
  /** Index in the last chunk behind the last whole item that ended there; 0 when none did. */
  readonly soundTo?: number;
  /** The next bytes, split anywhere (also inside a UTF-8 character). Never throws. */
  push(chunk: Uint8Array): void;
  /** The verdict; call once, after the last chunk. */
  end(): ScanVerdict;
}

const factories: ReadonlyMap<string, () => AnswerScanner> = new Map([
  ["application/sparql-results+json", () => new JsonScanner("results")],
  ["application/x-sparqlstar-results+json", () => new JsonScanner("results")],
  ["application/json", () => new JsonScanner("anything")],
  ["application/ld+json", () => new JsonScanner("graph")],
  ["application/sparql-results+xml", () => new XmlScanner({ sparqlResults: true })],
  ["application/xml", () => new XmlScanner({ sparqlResults: false })],
  ["text/xml", () => new XmlScanner({ sparqlResults: false })],
  ["application/rdf+xml", () => new XmlScanner({ sparqlResults: false })],
  ["text/csv", () => new CsvScanner()],
  ["text/tab-separated-values", () => new TsvScanner()],
  ["application/n-triples", createNTriplesScanner],
  ["application/n-quads", createNTriplesScanner],
  ["text/turtle", createTurtleScanner],
  ["application/x-turtle", createTurtleScanner],
  ["application/trig", createTrigScanner],
]);

/** For media types nothing is known about: any document counts as complete, its rows as unknown. */
const blindScanner: AnswerScanner = { push() {}, end: () => ({ complete: true }) };

/**
 * A scanner for one answer.
 * @param mediaType parameters and case are ignored
 */
export function createAnswerScanner(mediaType: string): AnswerScanner {
  return factories.get(bareMediaType(mediaType))?.() ?? blindScanner;
}
