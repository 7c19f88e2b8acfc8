import { sample } from "fast-check";
import oxigraph from "oxigraph";
import { storeAnswer, type CanonicalAnswer } from "./canonical-answer.ts";
import { isTotallyOrdered } from "./oracle.ts";
import { casesBy, generateCase } from "./query-generator.ts";
import { nTriplesAt, type Draw, type GeneratedCase } from "./query-generator-data.ts";
import { generateFederationData, type FederationData } from "./query-generator-federation.ts";
import { guessedRows } from "./query-generator-size.ts";
import { shapes, shapesOfServices } from "./query-generator-shapes.ts";
import { innerGroups, printQuery, whereOf, type GeneratedQuery, type Group } from "./query-generator-syntax.ts";
import { withoutAlternatives, withoutBraces } from "./query-without-service.ts";

/** How a query says where its data are: not at all, with SERVICE throughout, or with SERVICE for some of its patterns. */
type Mode = "over" | "service" | "mixed";

/** What is known of a member: all, nothing, or a fact that leaves it out of nothing. */
const knowledges = ["exact", "none", "stale", "partial", "wrong"] as const;
export type Knowledge = (typeof knowledges)[number];

/** A query over a federation of which more or less is known. */
export interface FederatedCase extends GeneratedCase {
  readonly data: FederationData;
  readonly mode: Mode;
  /** By member. */
  readonly knowledge: readonly Knowledge[];
  /** What planning knows: descriptions, read by the planner's own code, or all that somebody knows who read the data. */
  readonly told: "descriptions" | "data";
  /** Seeds what a planner is told of what is known. */
  readonly seed: number;
}

/** Generated cases, half of them without SERVICE; in batches, because a large sample does not fit into memory. */
export function* federatedCases(seed: number, count: number): Generator<FederatedCase> {
  for (let from = 0; from < count; from += 200) {
    yield* sample(casesBy(federatedCase), { seed: seed + from, numRuns: Math.min(200, count - from) });
  }
}

function federatedCase(draw: Draw): FederatedCase {
  const part = draw.below(100);
  const mode = part < 50 ? "over" : part < 88 ? "service" : "mixed";
  const nodes = mode === "over" && draw.chance(40);
  const data = generateFederationData(draw, { nodes });
  const ingredients = mode === "over" ? { shapes, describes: 6 } : { shapes: shapesOfServices, shaped: 30 };
  let { query } = generateCase(draw, data, ingredients);
  const isJudged = (): boolean => guessedRows(query, data) <= 5_000 && !(nodes && limitsWithin(whereOf(query)));
  for (let tries = 0; tries < 20 && !isJudged(); tries++) {
    query = generateCase(draw, data, ingredients).query;
  }
  const knowledge = Array.from({ length: data.endpoints }, () => knowledgeOf(draw));
  const told = mode === "service" || draw.chance(60) ? "descriptions" : "data";
  return { data, query, mode, knowledge, told, seed: draw.below(1_000_000_000) };
}

/** A subquery has LIMIT or OFFSET: its rows are not certain where it orders blank nodes, whose order is nobody's. */
function limitsWithin(group: Group): boolean {
  return group.some((element) => {
    const { kind } = element;
    const cuts = kind === "select" && (element.select.limit !== undefined || element.select.offset !== undefined);
    return cuts || innerGroups(element).some(limitsWithin);
  });
}

/** A tenth of the members have facts that must not be trusted, and a tenth have none. */
function knowledgeOf(draw: Draw): Knowledge {
  const part = draw.below(100);
  if (part < 80) return "exact";
  return part < 90 ? "none" : draw.pick(["stale", "partial", "wrong"]);
}

/** The query as its mode writes it. */
export function queryOf({ query, mode, seed }: Pick<FederatedCase, "query" | "mode" | "seed">): GeneratedQuery {
  if (mode === "service") return query;
  return withoutBraces(query, (target) => mode === "over" || (target + seed) % 3 > 0);
}

/** N-Triples of each member. */
export const dataOf = ({ data }: Pick<FederatedCase, "data">): readonly string[] =>
  Array.from({ length: data.endpoints }, (_, member) => nTriplesAt(data, member));

/** What an answer must be: these lines, or some of them. */
export interface Expected {
  readonly answer: CanonicalAnswer;
  /** LIMIT and OFFSET without a total order: any so many rows of `answer`. */
  readonly anyRows?: number;
  readonly inOrder: boolean;
}

/**
 * The answer that one store gives whose default graph is the merge of all members, and whose named graphs are the members.
 * @param urls names of the members
 */
export function expectedOf(value: FederatedCase, urls: readonly string[]): Expected {
  const query = withoutAlternatives(queryOf(value));
  const store = storeOf(value, urls);
  const print = (one: GeneratedQuery): string => printQuery(one, { keyword: "GRAPH", endpoints: urls });
  if (query.form !== "select") return { answer: storeAnswer(store, print(query)), inOrder: false };
  const { limit, offset = 0, orderBy } = query.select;
  const all = { ...query, select: { ...query.select, limit: undefined, offset: undefined } };
  const answer = storeAnswer(store, print(all));
  const rows = answer.kind === "bindings" ? answer.rows : [];
  // Blank nodes are in no order.
  const inOrder = isTotallyOrdered(query) && !rows.some((row) => row.includes("=_:"));
  if (inOrder || (orderBy.length > 0 && !isTotallyOrdered(query))) {
    return { answer: storeAnswer(store, print(query), inOrder), inOrder };
  }
  if (limit === undefined && offset === 0) return { answer, inOrder };
  return { answer, inOrder, anyRows: Math.min(limit ?? rows.length, Math.max(0, rows.length - offset)) };
}

function storeOf(value: FederatedCase, urls: readonly string[]): oxigraph.Store {
  const store = new oxigraph.Store();
  for (const [member, data] of dataOf(value).entries()) {
    store.load(data.replaceAll("_:", `_:m${member}x`), { format: "nt" });
    const graph = oxigraph.namedNode(urls[member] ?? "");
    // A graph without triples is one all the same.
    store.update(`CREATE GRAPH ${graph.toString()}`);
    store.load(data.replaceAll("_:", `_:g${member}x`), { format: "nt", to_graph_name: graph });
  }
  return store;
}

/** What is wrong with an answer; undefined when nothing is. */
export function unlikeExpected(
  expected: Expected,
  actual: CanonicalAnswer,
  compare: (one: CanonicalAnswer, other: CanonicalAnswer) => string | undefined,
): string | undefined {
  const { answer, anyRows } = expected;
  if (anyRows === undefined || answer.kind !== "bindings" || actual.kind !== "bindings") return compare(answer, actual);
  if (actual.rows.length !== anyRows)
    return `${actual.rows.length} rows instead of any ${anyRows}: ${compare(answer, actual)}`;
  const left = new Map<string, number>();
  for (const row of answer.rows) left.set(row, (left.get(row) ?? 0) + 1);
  for (const row of actual.rows) {
    const count = left.get(row) ?? 0;
    if (count === 0) return `a row too many: ${row}`;
    left.set(row, count - 1);
  }
  return undefined;
}
