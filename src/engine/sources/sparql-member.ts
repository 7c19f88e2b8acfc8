import type * as RDF from "@rdfjs/types";
import type { FederatedClause, PlannedEndpoint } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import { iriText } from "../../rdf/term-text.ts";
import { termToText } from "../../results/terms.ts";
import { createTripleIndex, type Triple, type TripleIndex } from "../../rdf/triple-index.ts";
import { type BlockSizes, type KeyBlock, keyRows } from "../clause-query.ts";
import type { ClauseExecutor } from "../clause-executor.ts";
import { interleave } from "../interleave.ts";
import type { Member, QueryNeeds } from "./merged-graph.ts";
import {
  constantParts,
  matchTriple,
  patternSelectivity,
  substitute,
  type TriplePattern,
  variablesOf,
} from "./triple-pattern.ts";

/** What a SPARQL member is asked with. */
interface SparqlMemberOptions {
  readonly endpoint: PlannedEndpoint;
  readonly executor: ClauseExecutor;
  readonly needs: QueryNeeds;
  readonly sizes: BlockSizes;
}

// Blocks of one pattern under way at once; the outbound client bounds the endpoint as a whole.
const BLOCKS_IN_FLIGHT = 3;

/**
 * A member that speaks SPARQL: a pattern and a block of keys are one request. SPARQL has no name for a blank node of an
 * earlier answer. So as soon as a blank node turns up that the query joins or tells apart, all triples with a blank node
 * that the query's patterns could match are taken in with one request, in which labels are consistent, and from then on
 * such solutions come from there.
 */
export function createSparqlMember(options: SparqlMemberOptions): Member {
  const { endpoint, executor, needs } = options;
  let mirror: Promise<TripleIndex> | undefined;
  const blankTriples = (): Promise<TripleIndex> =>
    (mirror ??= readBlankTriples(executor.solutions(blankClause(endpoint, needs.patterns))));
  const hasIdentified = (row: Bindings): boolean =>
    [...row].some(([name, term]) => term.termType === "BlankNode" && needs.identified(name));

  async function* solutions(pattern: TriplePattern, keys: KeyBlock | undefined): AsyncIterable<Bindings> {
    const [named, blank] = split(keys);
    let fromMirror = blank !== undefined;
    if (!hasBlank(pattern) && (!keys || named)) {
      for await (const row of inBlocks(options, patternClause(endpoint, pattern), named)) {
        if (hasIdentified(row)) fromMirror = true;
        else yield row;
      }
    } else fromMirror = true;
    if (!fromMirror) return;
    for (const row of matches(await blankTriples(), pattern, keys)) if (hasIdentified(row)) yield row;
  }

  async function* nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term> {
    const blank = among.filter(({ termType }) => termType === "BlankNode");
    const named = among.filter(({ termType }) => termType !== "BlankNode");
    for (const node of blank) {
      const index = await blankTriples();
      if (index.count({ subject: node }) + index.count({ object: node }) > 0) yield node;
    }
    if (named.length === 0) return;
    const keys = { variables: ["node"], rows: named.map((node) => [node]) };
    for await (const row of inBlocks(options, nodeClause(endpoint), keys)) {
      const node = row.get("node");
      if (node) yield node;
    }
  }

  return { endpoint, solutions, nodes, estimate: async () => undefined };
}

/** A clause's solutions, asked for with as many keys at once as the endpoint digests. */
async function* inBlocks(
  { endpoint, executor, sizes }: SparqlMemberOptions,
  clause: FederatedClause,
  keys: KeyBlock | undefined,
): AsyncIterable<Bindings> {
  async function* blocks(all: KeyBlock): AsyncIterable<AsyncIterable<Bindings>> {
    const { variables, rows } = all;
    for (let from = 0; from < rows.length; ) {
      const to = from + sizes.next(endpoint.url);
      yield executor.solutions(clause, { variables, rows: rows.slice(from, to) });
      from = to;
    }
  }
  yield* keys ? interleave(blocks(keys), BLOCKS_IN_FLIGHT) : executor.solutions(clause);
}

const hasBlank = ({ subject, object }: TriplePattern): boolean =>
  subject.termType === "BlankNode" || object.termType === "BlankNode";

const hasBlankNode = (row: readonly RDF.Term[]): boolean => row.some(({ termType }) => termType === "BlankNode");

/** The rows that can be sent, and those with a blank node. */
function split(keys: KeyBlock | undefined): [named: KeyBlock | undefined, blank: KeyBlock | undefined] {
  if (!keys) return [undefined, undefined];
  const part = (wanted: boolean): KeyBlock | undefined => {
    const rows = keys.rows.filter((row) => hasBlankNode(row) === wanted);
    return rows.length > 0 ? { variables: keys.variables, rows } : undefined;
  };
  return [part(false), part(true)];
}

function* matches(index: TripleIndex, pattern: TriplePattern, keys: KeyBlock | undefined): Iterable<Bindings> {
  for (const values of keys ? keyRows(keys) : [new Map<string, RDF.Term>()]) {
    const wanted = substitute(pattern, values);
    if (!wanted) continue;
    for (const triple of index.match(constantParts(wanted))) {
      const solution = matchTriple(wanted, triple);
      if (solution) yield new Map([...values, ...solution]);
    }
  }
}

function toClause(
  endpoint: PlannedEndpoint,
  made: Pick<FederatedClause, "pattern" | "variables">,
  selectivity = 0,
): FederatedClause {
  return { iri: "urn:fedway:pattern", endpoint, silent: false, prologue: "", ...made, selectivity };
}

function patternClause(endpoint: PlannedEndpoint, pattern: TriplePattern): FederatedClause {
  const text = (["subject", "predicate", "object"] as const).map((place) => termToText(pattern[place])).join(" ");
  const not = pattern.not?.map((iri) => iriText(iri)) ?? [];
  const filter = not.length > 0 ? ` FILTER(${termToText(pattern.predicate)} NOT IN (${not.join(", ")}))` : "";
  const variables = variablesOf(pattern).map((name) => ({ name, certain: true }));
  return toClause(endpoint, { pattern: `{ ${text}${filter} }`, variables }, patternSelectivity(pattern));
}

/** Sent with keys for `?node` only; a FILTER without braces, so that it sees them. */
function nodeClause(endpoint: PlannedEndpoint): FederatedClause {
  const variables = [{ name: "node", certain: true }];
  if (endpoint.existence === "join") {
    const pattern = "{ { ?node ?p ?o } UNION { ?s ?q ?node } }";
    return { ...toClause(endpoint, { pattern, variables }), distinct: true };
  }
  return toClause(endpoint, { pattern: "FILTER(EXISTS { ?node ?p ?o } || EXISTS { ?s ?q ?node })", variables });
}

/** All triples with a blank node that one of the patterns could match. */
function blankClause(endpoint: PlannedEndpoint, patterns: readonly TriplePattern[]): FederatedClause {
  const branches = new Set(patterns.filter((pattern) => !hasBlank(pattern)).map((pattern) => blankBranch(pattern)));
  const variables = ["s", "p", "o"].map((name) => ({ name, certain: true }));
  return toClause(endpoint, { pattern: `{ ${[...branches].join(" UNION ")} }`, variables });
}

const isOpen = ({ termType }: RDF.Term): boolean => termType === "Variable";

function blankBranch({ subject, predicate, object }: TriplePattern): string {
  const places = [
    ["?s", subject],
    ["?p", predicate],
    ["?o", object],
  ] as const;
  const parts = places.map(([name, term]) => (isOpen(term) ? name : termToText(term)));
  const binds = places.map(([name, term]) => (isOpen(term) ? "" : ` BIND(${termToText(term)} AS ${name})`));
  return `{ ${parts.join(" ")} .${binds.join("")} FILTER(isBlank(?s) || isBlank(?o)) }`;
}

async function readBlankTriples(rows: AsyncIterable<Bindings>): Promise<TripleIndex> {
  const triples: Triple[] = [];
  for await (const row of rows) {
    const [subject, predicate, object] = [row.get("s"), row.get("p"), row.get("o")];
    if (subject && predicate && object) triples.push({ subject, predicate, object });
  }
  return createTripleIndex(triples);
}
