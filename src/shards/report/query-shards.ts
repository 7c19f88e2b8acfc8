import { ruleKey, irisOfRule } from "../rules/candidates.ts";
import type { PlacementOf } from "../rules/placement.ts";
import type { Cell, Pattern, Problem, QueryFeatures, ShardQuery, Rule } from "../rules/problem.ts";
import type { AnswerSource } from "../rules/query-answers.ts";
import { compareText } from "../../rdf/canonical.ts";

/** What the rules say of a query, and what the data say. */
export interface QueryShards {
  readonly query: ShardQuery;
  /** Chosen rules that cover it. */
  readonly rules: readonly Rule[];
  /** Chosen rules that made a shard it touches, whether they cover it or not. */
  readonly apartBy: readonly Rule[];
  /** Keys of the shards that the covering rules make; sorted. */
  readonly implied: readonly string[];
  /** Keys of the shards with a match for at least one of its triple patterns; sorted. */
  readonly touched: readonly string[];
  /** Keys of the shards that hold one of its predicates or classes: what selection by VoID would ask; sorted. */
  readonly relevant?: readonly string[];
  /** Where its answer comes from; undefined where that is not known. */
  readonly source?: AnswerSource;
}

const keysOf = (cells: readonly Cell[], placement: PlacementOf): readonly string[] =>
  cells.map(({ types, predicate, bucket }) => placement(types, predicate, bucket));

/** Of each query, the shards with a match, from the cells with a match. */
export function touchedShards(
  { cells, touches }: NonNullable<Problem["placement"]>,
  placement: PlacementOf,
): readonly (readonly string[])[] {
  const keys = keysOf(cells, placement);
  return touches.map((touched) => sortedKeys(touched.map((cell) => keyAt(keys, cell))));
}

function keyAt(keys: readonly string[], cell: number): string {
  const key = keys[cell];
  if (key === undefined) throw new RangeError(`there is no cell ${cell} among ${keys.length}`);
  return key;
}

const typePredicate = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const iriOf = (term: string | undefined): string | undefined =>
  term?.startsWith("<") === true ? term.slice(1, -1) : term;

/** Keys of shards by the vocabulary of their triples. */
interface ShardIndex {
  readonly byPredicate: ReadonlyMap<string, ReadonlySet<string>>;
  /** Of triples that say the class of their subject, by each of its classes. */
  readonly byClass: ReadonlyMap<string, ReadonlySet<string>>;
}

function put(index: Map<string, Set<string>>, name: string, key: string): void {
  const known = index.get(name);
  if (known === undefined) index.set(name, new Set([key]));
  else known.add(key);
}

function indexOf(cells: readonly Cell[], placement: PlacementOf): ShardIndex {
  const byPredicate = new Map<string, Set<string>>();
  const byClass = new Map<string, Set<string>>();
  for (const { types, predicate, bucket } of cells) {
    const key = placement(types, predicate, bucket);
    put(byPredicate, predicate, key);
    if (predicate === typePredicate) for (const iri of types) put(byClass, iri, key);
  }
  return { byPredicate, byClass };
}

/** Groups of keys of the shards with the vocabulary of the pattern, whatever its other constants are. */
function shardsOfPattern({ byPredicate, byClass }: ShardIndex, pattern: Pattern): readonly ReadonlySet<string>[] {
  const predicate = iriOf(pattern.predicate);
  if (predicate === undefined) {
    const except = new Set(pattern.exceptPredicates);
    return [...byPredicate].flatMap(([iri, keys]) => (except.has(iri) ? [] : keys));
  }
  const named = predicate === typePredicate ? iriOf(pattern.object) : undefined;
  return [(named === undefined ? byPredicate.get(predicate) : byClass.get(named)) ?? new Set()];
}

/** Of each query, the shards that hold one of its predicates, or instances of a class where it asks for the class. */
export function relevantShards(
  queries: readonly QueryFeatures[],
  cells: readonly Cell[],
  placement: PlacementOf,
): readonly (readonly string[])[] {
  const index = indexOf(cells, placement);
  return queries.map(({ patterns }) => {
    const found = new Set<string>();
    for (const pattern of patterns) {
      for (const keys of shardsOfPattern(index, pattern)) for (const key of keys) found.add(key);
    }
    return sortedKeys(found);
  });
}

/** Of each query, the chosen rules that cover it, in the order of the rules. */
function coveringRules({ queries, candidates }: Problem, rules: readonly Rule[]): readonly (readonly Rule[])[] {
  const covers = new Map(candidates.map((candidate) => [ruleKey(candidate.rule), new Set(candidate.covers)]));
  const ofRule = rules.map((rule) => covers.get(ruleKey(rule)));
  return queries.map((_, query) => rules.filter((_rule, at) => ofRule[at]?.has(query) === true));
}

/** What is known of the queries; the lists are in the order of `problem.queries`. */
interface QueryShardsInput {
  readonly problem: Problem;
  /** The chosen ones. */
  readonly rules: readonly Rule[];
  readonly touched: readonly (readonly string[])[];
  readonly relevant?: readonly (readonly string[])[];
  readonly sources?: readonly (AnswerSource | undefined)[];
}

/**
 * Puts together what is known of each query.
 * @throws RangeError when a list has another length than the queries
 */
export function queryShardsOf({
  problem,
  rules,
  touched,
  relevant,
  sources,
}: QueryShardsInput): readonly QueryShards[] {
  const covering = coveringRules(problem, rules);
  const made = rules.map((rule) => impliedShards([rule]));
  for (const list of [touched, relevant ?? touched, sources ?? touched]) {
    if (list.length !== problem.queries.length) {
      throw new RangeError(`shards of ${list.length} queries were given, there are ${problem.queries.length}`);
    }
  }
  return problem.queries.map(({ query }, at) => {
    const known = relevant?.[at];
    const source = sources?.[at];
    return {
      query,
      rules: covering[at] ?? [],
      apartBy: rules.filter((_rule, rule) => made[rule]?.some((key) => touched[at]?.includes(key)) === true),
      implied: impliedShards(covering[at] ?? []),
      touched: sortedKeys(touched[at] ?? []),
      ...(known === undefined ? {} : { relevant: sortedKeys(known) }),
      ...(source === undefined ? {} : { source }),
    };
  });
}

/** Stands for the shards, whichever they are, that hold what a rule of a single class or predicate leaves. */
export const elsewhere = "elsewhere";

/** Keys of the shards that one rule makes; one of a single class or predicate parts it from `elsewhere`. */
function shardsOfRule(rule: Rule): readonly string[] {
  if (rule.kind === "horizontal") {
    return Array.from({ length: rule.buckets }, (_, bucket) => `h/${rule.class}/${bucket}`);
  }
  const letter = rule.kind === "class" ? "c" : "v";
  const keys = irisOfRule(rule).map((member) => `${letter}/${member}`);
  return keys.length === 1 ? [...keys, elsewhere] : keys;
}

/** Keys, each once, by code unit. */
const sortedKeys = (keys: Iterable<string>): readonly string[] => [...new Set(keys)].toSorted(compareText);

/**
 * The shards that a query needs by the rules alone: those that the rules which cover it make, each counted once. Their
 * number is the *implied fan-out*. It knows nothing of the data: a rule may be shadowed by one that claims first, and a
 * shard may be empty.
 */
export const impliedShards = (covering: readonly Rule[]): readonly string[] =>
  sortedKeys(covering.flatMap(shardsOfRule));
