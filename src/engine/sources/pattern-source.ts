import type { PlannedEndpoint } from "../../plan/query-plan.ts";
import type { Triple } from "../../rdf/triple-index.ts";
import type { SourceReport } from "../federation-engine.ts";
import type { SourceDocumentRequest } from "./document-client.ts";
import type { TriplePattern } from "./triple-pattern.ts";

/** What a source of triples is bound by while one execution reads from it. */
export interface MatchBounds {
  readonly signal: AbortSignal;
  /** Moment on the clock (milliseconds) at which all must be over. */
  readonly deadlineMs: number;
  /** What the source contributed; requests and bytes are added here. */
  readonly report: SourceReport;
  /** Whose requests these are, for the transport. */
  readonly owner?: Pick<SourceDocumentRequest, "endpoint" | "trace">;
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
