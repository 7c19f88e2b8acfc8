import type { PlannedEndpoint } from "../../plan/query-plan.ts";
import type { Triple } from "../../rdf/triple-index.ts";
import type { DocumentRequest, RdfDocument } from "../../outbound/documents.ts";
import type { SourceReport } from "../federation-engine.ts";
import type { TriplePattern } from "./triple-pattern.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { createFileSources, type FileSourcesOptions } from "./file-source.ts";
import { createTpfSources, type TpfSourcesOptions } from "./tpf-source.ts";

/** What a source of triples is bound by while one execution reads from it. */
export interface MatchBounds {
  readonly signal: AbortSignal;
  /** Moment on the clock (milliseconds) at which all must be over. */
  readonly deadlineMs: number;
  /** What the source contributed; requests and bytes are added here. */
  readonly report: SourceReport;
  /** Whose requests these are. */
  readonly owner?: Pick<DocumentRequest, "endpoint" | "trace">;
}

/** How many triples match a pattern, and how many requests it takes to read them. */
export interface MatchEstimate {
  readonly triples: number;
  readonly requests: number;
}

/** A source of triples that does not speak SPARQL, within one execution. */
export interface PatternSource {
  /**
   * Triples of the source, all that match the pattern among them; blank nodes carry the source's own labels, the same
   * for one node in every answer. Nothing is fetched before the first is read; leaving early stops.
   * @throws FedwayError as `SparqlClient.query`
   */
  match(pattern: TriplePattern): AsyncIterable<Triple>;
  /** @throws FedwayError as `match`; undefined when the source does not tell */
  estimate(pattern: TriplePattern): Promise<MatchEstimate | undefined>;
}

/** Opens the source behind an endpoint whose interface is "tpf" or "file" for one execution. */
export type OpenPatternSource = (endpoint: PlannedEndpoint, bounds: MatchBounds) => PatternSource;

/** A fetched and parsed document, as far as sources look at it. */
export type SourceDocument = Pick<RdfDocument, "url" | "mediaType" | "quads" | "bytes">;

/** What pattern sources need of the document client: its address guard, host rates and byte counting. */
export interface SourceDocuments {
  /** @throws FedwayError as `SparqlClient.query`; `ENDPOINT_NOT_SPARQL` for what is no RDF, `ENDPOINT_MALFORMED` */
  fetch(request: DocumentRequest): Promise<SourceDocument>;
}

/** Both kinds of source that do not speak SPARQL; files and search forms are remembered from execution to execution. */
export function createPatternSources(options: FileSourcesOptions & TpfSourcesOptions): OpenPatternSource {
  const files = createFileSources(options);
  const fragments = createTpfSources(options);
  return ({ interface: kind, url }, bounds) => (kind === "tpf" ? fragments(url, bounds) : files(url, bounds));
}

/** For engines without a document client: such endpoints cannot be read. */
export const noPatternSources: OpenPatternSource = ({ url }): PatternSource => {
  const refuse = (): never => {
    throw new FedwayError("ENDPOINT_REFUSED", "This service does not read endpoints that do not speak SPARQL.", {
      where: { endpoint: url },
    });
  };
  return { match: refuse, estimate: async () => refuse() };
};
