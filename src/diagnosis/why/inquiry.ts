import type * as RDF from "@rdfjs/types";
import type { ErrorCode } from "../../errors/codes.ts";
import type { ErrorWhere, FedwayError, Repair, Suggestion } from "../../errors/fedway-error.ts";
import type { KnownTerms } from "../../plan/plan-request.ts";
import { wellKnownPrefixes } from "../../rdf/well-known-prefixes.ts";
import type { Catalog } from "../../registry/catalog.ts";
import { termToText } from "../../results/terms.ts";
import { type TextEdit, type TokenRange, type Query, parsedIfLegal } from "../../sparql/query.ts";
import type { CheckedQuery } from "../check/query-check.ts";
import { isNumeric } from "../typed-text.ts";
import { type Prober, type ProbeTarget } from "./prober.ts";
import { headOf, partsOf, type QueryPart, renderParts, serviceOf } from "./query-parts.ts";
import { answered, type Claim, type Ground } from "./statements.ts";

/** Where the parts of a query are sent. */
export interface QueryHome {
  readonly catalog: Pick<Catalog, "byId" | "byUrl" | "entries">;
  /** Id or URL of the only endpoint that patterns outside of every SERVICE are sent to. */
  readonly home: string | undefined;
}

/** A query whose answer is empty, and the means to ask about it. */
export interface Inquiry extends QueryHome {
  readonly query: Query;
  /** As the client wrote it, with its prefixes declared: ids of the catalogue may stand for URLs. */
  readonly written: string;
  /** An error of `query`, at its place in what the client wrote. */
  readonly relocated: (error: FedwayError) => unknown;
  /** Those that are looked into: of the whole query, or of a block of it. */
  readonly parts: readonly QueryPart[];
  /** Of the whole query. */
  readonly all: readonly QueryPart[];
  readonly prober: Prober;
  readonly target: ProbeTarget;
  readonly terms: Pick<KnownTerms, "hasTerm" | "endpointsWith" | "descriptionVersion"> | undefined;
  /** Result of checking the query. */
  readonly known: KnownOfQuery;
  /** Ids of the endpoints that such a pattern is matched at together. */
  readonly members: readonly string[];
}

/** Knowledge about a query without asking. */
type KnownOfQuery = Pick<CheckedQuery, "unknown" | "contradictions"> & Required<Pick<CheckedQuery, "offers">>;

/** Why an answer is empty. */
export interface Finding {
  readonly code: ErrorCode;
  /** The first is the finding; the others are said where they hold. */
  readonly claims: readonly Claim[];
  /** Of the diagnosis itself; nothing is said of the data. */
  readonly remark?: string | undefined;
  /** The part that is to blame. */
  readonly part?: QueryPart | undefined;
  /** The part as it should be. */
  readonly fitting?: QueryPart | undefined;
  /** Instead of the endpoint that the part is sent to. */
  readonly endpoint?: string | undefined;
  /** Endpoints that would fit. */
  readonly endpoints?: readonly string[] | undefined;
  /** Each makes the query have solutions, as was asked. */
  readonly repairs?: readonly Repair[] | undefined;
  /** Changes of the first repair. */
  readonly edits?: readonly TextEdit[] | undefined;
  readonly suggestions?: readonly Suggestion[] | undefined;
  readonly next?: string | undefined;
}

/** The query with some edits has solutions; empty where it is none then. */
export function solvedBy({ query }: Inquiry, edits: readonly TextEdit[]): readonly Ground[] {
  const changed = edits.length === 0 ? undefined : parsedIfLegal(query.cut(edits));
  if (changed === undefined) return [];
  const { prologue, dataset } = headOf(changed);
  const group = renderParts(partsOf(changed));
  const isMoved = prologue !== headOf(query).prologue;
  const moved = `${prologue}SELECT * ${dataset} WHERE { ${group} } LIMIT 1`;
  return [answered(isMoved ? { query: moved } : { group })];
}

/** A part as it is shown. */
export function shownPart(part: QueryPart): string {
  const text = part.kind === "triple" ? part.text.replace(/ \.$/, "") : part.text.replaceAll(/\s+/g, " ");
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** Id, else URL, of the endpoint that a part is sent to; undefined where there are several. */
export function endpointOf({ catalog, home }: QueryHome, part: QueryPart): string | undefined {
  const service = serviceOf(part);
  return service === undefined ? home : (catalog.byUrl(service)?.id ?? service);
}

/** "at ..." or "at any member of the federation", and the graphs there that the query chooses for the part. */
export function atEndpoint(inquiry: Inquiry, part: QueryPart): string {
  const endpoint = endpointOf(inquiry, part);
  const graphs = graphsOf(inquiry, part);
  const among = graphs === "" ? "" : `in ${graphs} `;
  if (endpoint !== undefined) return `${among}at ${endpoint}`;
  if (inquiry.members.length === 0) return `${among}here`;
  // More data may take solutions from a block: what its members give together says nothing of each.
  return part.kind === "block"
    ? `${among}over the members of the federation`
    : `${among}at any member of the federation`;
}

/** The innermost GRAPH around a part, or the dataset clauses; empty where the endpoint's default graph is asked. */
function graphsOf({ query }: Inquiry, part: QueryPart): string {
  const service = part.wrappers.findLastIndex((wrapper) => wrapper.service !== undefined);
  const graph = part.wrappers.slice(service + 1).findLast(({ head }) => /^graph\b/i.test(head));
  return graph?.head ?? (service < 0 ? headOf(query).dataset : "");
}

/** Where a part stands. */
export function whereOf(inquiry: Inquiry, part: QueryPart, endpoint = endpointOf(inquiry, part)): ErrorWhere {
  const place = { ...inquiry.query.whereIs(part.range), pattern: shownPart(part) };
  return endpoint === undefined ? place : { ...place, endpoint };
}

/** A term in SPARQL, with a prefix of the query where that has one for it. */
export const writtenTerm = (query: Query, term: RDF.Term): string =>
  term.termType === "NamedNode" ? query.prologue.written(term.value) : termToText(term);

/** A term as readers know it best. */
export function shownTerm(query: Query, term: RDF.Term): string {
  if (term.termType === "Literal" && isNumeric(term.datatype.value)) return term.value;
  const text = writtenTerm(query, term);
  if (!text.startsWith("<")) return text.length > 120 ? `${text.slice(0, 120)}…` : text;
  const [namespace, prefix] = [...wellKnownPrefixes].find(([start]) => text.startsWith(`<${start}`)) ?? [];
  return namespace === undefined ? text.slice(0, 200) : `${prefix}:${text.slice(namespace.length + 1, -1)}`;
}

/**
 * Edits of the query as a repair: one replacement of a piece of text that stands in the query once, so that whoever mends the
 * text needs no offsets.
 */
export function repairOf(inquiry: Inquiry, kind: string, edits: readonly TextEdit[]): Repair {
  const { query, written } = inquiry;
  const last = query.tokens.length;
  let range: TokenRange = {
    from: Math.min(...edits.map(({ range: { from } }) => from)),
    to: Math.max(...edits.map(({ range: { to } }) => to)),
  };
  const isUnique = (): boolean => query.text.split(query.textOf(range)).length === 2;
  while (!isUnique() && (range.from > 0 || range.to < last)) {
    range = { from: Math.max(0, range.from - 1), to: range.to };
    if (!isUnique()) range = { from: range.from, to: Math.min(last, range.to + 1) };
  }
  const before = query.textOf(range);
  const after = query.cutRange(range, edits);
  return { kind, before: asWritten(inquiry, before), after: asWritten(inquiry, after), applied: false };

  /** With the ids that the client wrote. */
  function asWritten({ catalog }: Inquiry, text: string): string {
    if (written.includes(before)) return text;
    return text.replaceAll(/<([^<>\s]+)>/g, (iri, url: string) => {
      const id = catalog.byUrl(url)?.id;
      return id !== undefined && written.includes(`<${id}>`) ? `<${id}>` : iri;
    });
  }
}
