import { type PatternHomes, serviceQuery } from "../../../src/plan/portable-plan.ts";
import { iriText, literalText } from "../../../src/rdf/term-text.ts";
import { type Query, parseQuery } from "../../../src/sparql/query.ts";
import { type PatternTerm, type PlacedPattern, type TripleText, tripleTexts } from "../../../src/sparql/patterns.ts";
import { valueOf, type WholeStore } from "./whole-store.ts";

/** A shard as federated queries see it. */
export interface ShardEndpoint {
  readonly id: string;
  readonly url: string;
  /** Of the rule that made it: `v/`, `h/`, `c/` or `base`. */
  readonly key: string;
}

/** A query as federations of shards answer it. */
export interface FederatedForms {
  /** Each pattern at the shards that have matches of it. */
  readonly gold: string;
  /** Each pattern at every shard. */
  readonly trivial: string;
  /** Ids of the shards that the gold query names. */
  readonly endpoints: readonly string[];
  /** Patterns without a match anywhere; the gold query asks for them where their property lies, or everywhere. */
  readonly unmatched: readonly string[];
}

/** The two federated forms of a query, or why it has none. */
export async function federatedForms(
  query: Query,
  { store, shards }: { readonly store: WholeStore; readonly shards: readonly ShardEndpoint[] },
): Promise<FederatedForms | { readonly why: string }> {
  if (!store.hasShards) return { why: "The dataset has named graphs." };
  if (query.outline.datasets.length > 0) return { why: "SERVICE cannot name the dataset of its endpoint (FROM)." };
  const homes = new Map<string, readonly string[]>();
  const unmatched: string[] = [];
  const written = plainQuery(query);
  for (const { triples } of written.outside) {
    for (const triple of tripleTexts(written, triples)) {
      const text = textOfTriple(triple);
      if (homes.has(text)) continue;
      const patterns = patternsOf(written, text);
      const urls = await urlsWith(store, patterns);
      if (urls.length === 0) unmatched.push(text);
      homes.set(text, urls.length > 0 ? urls : await likelyHomes(patterns, { store, shards }));
    }
  }
  const everywhere = shards.map(({ url }) => url);
  const gold = serviceQuery(
    written,
    homesBy((triple) => homes.get(textOfTriple(triple)) ?? everywhere, shards),
  );
  const trivial = serviceQuery(
    written,
    homesBy(() => everywhere, []),
  );
  if ("why" in gold) return { why: gold.why };
  if ("why" in trivial) return { why: trivial.why };
  const named = new Set([...homes.values()].flat());
  const endpoints = shards.filter(({ url }) => named.has(url)).map(({ id }) => id);
  return { gold: gold.query, trivial: trivial.query, endpoints, unmatched };
}

/**
 * The same query as all engines read it: escaped local names as IRIs, whose backslash Comunica keeps, and a line for the prologue,
 * where rdflib takes the `#` of a namespace for a comment in front of a SERVICE.
 */
function plainQuery(query: Query): Query {
  const { tokens, prologue } = query;
  const edits = tokens.flatMap((token, at) =>
    token.kind === "pname" && token.text.includes("\\")
      ? [{ range: { from: at, to: at + 1 }, replacement: iriText(prologue.iriOf(token)) }]
      : [],
  );
  const body = { from: prologue.length, to: tokens.length };
  return parseQuery(`${query.textOf({ from: 0, to: prologue.length })}\n${query.cutRange(body, edits)}`);
}

/**
 * Rules for classes place all triples of a subject alike: those of two patterns with one subject, none of which lies in a
 * shard of a property, lie together.
 */
function homesBy(urlsOf: PatternHomes["urlsOf"], shards: readonly ShardEndpoint[]): PatternHomes {
  const keeping = new Set(shards.filter(({ key }) => !key.startsWith("v/")).map(({ url }) => url));
  return { urlsOf, disjoint: { keepSubjects: (urls) => urls.every((url) => keeping.has(url)) } };
}

const textOfTriple = ({ subject, predicate, object }: TripleText): string =>
  `${subject.text} ${predicate.text} ${object.text}`;

/** The patterns that a triple pattern of a query, which may have a path, asks for. */
const patternsOf = (query: Query, triple: string): readonly PlacedPattern[] =>
  parseQuery(`${query.textOf({ from: 0, to: query.prologue.length })}\nSELECT * WHERE { ${triple} }`).patterns;

/** The graphs, which are named by the shards' URLs, with a match of one of these patterns. */
async function urlsWith(store: WholeStore, patterns: readonly PlacedPattern[]): Promise<readonly string[]> {
  const urls = new Set<string>();
  for (const { subject, predicate, object, exceptPredicates = [] } of patterns) {
    const names: string[] = [];
    const [s, p, o] = [subject, predicate, object].map((term) => termText(term, names));
    const except =
      exceptPredicates.length === 0 ? "" : ` FILTER(${p} NOT IN (${exceptPredicates.map(iriText).join(", ")}))`;
    const answer = await store.ask(`SELECT DISTINCT ?graph WHERE { GRAPH ?graph { ${s} ${p} ${o}${except} } }`);
    const found = answer.kind === "bindings" ? answer.solutions : [];
    for (const { graph } of found) urls.add(valueOf(graph));
  }
  return [...urls].toSorted();
}

/** Variables are numbered, so that equal ones stay equal. */
function termText(term: PatternTerm, names: string[]): string {
  if (term.kind === "iri") return iriText(term.iri);
  if (term.kind === "literal") return literalText(term.literal);
  if (!names.includes(term.name)) names.push(term.name);
  return `?v${names.indexOf(term.name)}`;
}

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

const anything = (name: string): PatternTerm => ({ kind: "variable", name });

/** Where a pattern without a match would have one: at the shards of its property or class, else anywhere. */
async function likelyHomes(
  patterns: readonly PlacedPattern[],
  { store, shards }: { readonly store: WholeStore; readonly shards: readonly ShardEndpoint[] },
): Promise<readonly string[]> {
  const open = patterns.map((pattern): PlacedPattern => {
    const { predicate, object } = pattern;
    const isType = predicate.kind === "iri" && predicate.iri === rdfType;
    return { ...pattern, subject: anything("subject"), object: isType ? object : anything("object") };
  });
  const urls = await urlsWith(store, open);
  return urls.length > 0 ? urls : shards.map(({ url }) => url);
}
