import { itemAt } from "../../../src/values.ts";
import {
  type Element,
  elementsWithin,
  type Group,
  groupsWithin,
  isAggregated,
  type Query,
} from "../../../src/sparql/query.ts";
import type { RuleKind } from "../rules/problem.ts";
import { graphForm, queryOfGraphs } from "./graph-form.ts";
import { type GoldAnswer, isGoldAnswer } from "./gold-answer.ts";
import type { WholeStore } from "./whole-store.ts";

/**
 * Demand of a query on a federation, so that scores can be given by stratum. `join`, `exists` (and MINUS): of patterns at different
 * shards. `union`: of shards. `unlike-keys`: a join across shards on literals, or on values that FILTER or BIND compares or makes.
 * `member-down`: the loss of some shard changes the answer. `empty`: planned to have no answer. Others: kinds of the rules that
 * made a shard that it touches.
 */
export type Stratum =
  | "join"
  | "union"
  | "exists"
  | "aggregate-over-union"
  | "unlike-keys"
  | "member-down"
  | "empty"
  | RuleKind;

/** An element of a group with the graphs, which are shards, that it asks. */
interface Part {
  readonly element: Element;
  readonly shards: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

/** The strata that the text of a gold query shows. @throws as the store */
export async function strataOf(gold: string, store: WholeStore): Promise<readonly Stratum[]> {
  const query = graphForm(gold);
  const found = new Set<Stratum>();
  const literals = new Set<string>();
  for (const group of groupsWithin(query.outline.groups)) {
    const parts = group.elements.map((element) => partOf(query, element)).filter(({ shards }) => shards.size > 0);
    if (parts.some(isUnion)) found.add("union");
    for (const pair of pairsOf(parts)) {
      for (const stratum of strataOfPair(query, group, pair)) found.add(stratum);
      for (const name of sharedValues(pair)) literals.add(literalQuery(query, pair[0], name));
    }
  }
  if (isAggregateOverUnion(query)) found.add("aggregate-over-union");
  for (const text of found.has("unlike-keys") ? [] : literals) {
    const answer = await store.ask(text);
    if (answer.kind === "boolean" && answer.value) found.add("unlike-keys");
  }
  return [...found].toSorted();
}

type Pair = readonly [Part, Part];

const sharedNames = ([one, other]: Pair): readonly string[] => [...one.names.intersection(other.names)];

/** Names that both share and that neither has as a subject: keys by value. */
const sharedValues = (pair: Pair): readonly string[] =>
  sharedNames(pair).filter((name) => !pair.some((part) => subjectsIn(part).has(name)));

function strataOfPair(query: Query, group: Group, pair: Pair): readonly Stratum[] {
  const joined =
    sharedNames(pair).length === 0 ? undefined : pair.some(({ element }) => isTest(element)) ? "exists" : "join";
  return [
    ...(joined ? ([joined] as const) : []),
    ...(comparesIn(query, group, pair) ? (["unlike-keys"] as const) : []),
  ];
}

function partOf(query: Query, element: Element): Part {
  const inside = [element, ...elementsWithin(element.groups)];
  const shards = inside.flatMap((each) => (each.kind === "graph" ? [itemAt(query.tokens, each.name).text] : []));
  const names = isTest(element) ? query.variablesIn(element) : query.visibleIn(element);
  return { element, shards: new Set(shards), names };
}

const isTest = ({ kind }: Element): boolean => kind === "filter" || kind === "minus";

const isUnion = ({ element, shards }: Part): boolean =>
  element.kind === "union" && element.groups.length > 1 && shards.size > 1;

/** Two parts each, but for those at one and the same shard. */
const pairsOf = (parts: readonly Part[]): readonly Pair[] =>
  parts.flatMap((one, at) =>
    parts.slice(at + 1).flatMap((other) => (one.shards.union(other.shards).size > 1 ? [[one, other] as const] : [])),
  );

/** True if a FILTER with `=` or a BIND of the group ties a variable of one part to one of the other. */
function comparesIn(query: Query, { elements }: Group, [one, other]: Pair): boolean {
  return elements.some((element) => {
    if (element.kind === "filter" && (element.groups.length > 0 || !query.textOf(element).includes("="))) return false;
    if (element.kind !== "filter" && element.kind !== "bind") return false;
    const mentioned = query.variablesIn(element);
    const own = [one.names.difference(other.names), other.names.difference(one.names)];
    return own.every((names) => !names.isDisjointFrom(mentioned));
  });
}

const subjectsIn = ({ element }: Part): ReadonlySet<string> =>
  new Set(
    elementsWithin(element.groups).flatMap((each) =>
      each.kind === "triples"
        ? each.triples.flatMap(({ subject }) => (subject.termType === "Variable" ? [subject.value] : []))
        : [],
    ),
  );

/** Asks whether a variable of the part is a literal. */
function literalQuery(query: Query, { element }: Part, name: string): string {
  const prologue = query.textOf({ from: 0, to: query.prologue.length });
  return `${prologue}\nASK { ${query.textOf(element)} FILTER(isLiteral(?${name})) }`;
}

const isAggregateOverUnion = (query: Query): boolean =>
  query.selects.some(
    ({ tree, where }) =>
      "variables" in tree &&
      tree.queryType === "SELECT" &&
      isAggregated(tree) &&
      elementsWithin(where ? [where] : []).some((element) => isUnion(partOf(query, element))),
  );

/** Queries that name more shards are not asked without each of them. */
const mostShards = 32;

/** The shards without which the gold query gives another answer, by id; undefined: too many to try. @throws as the store */
export async function neededShards(
  { gold, answer }: { readonly gold: string; readonly answer: GoldAnswer },
  shards: readonly { readonly id: string; readonly url: string }[],
  store: WholeStore,
): Promise<readonly string[] | undefined> {
  if (shards.length > mostShards) return undefined;
  const query = graphForm(gold);
  const needed: string[] = [];
  for (const { id, url } of shards)
    if (!isGoldAnswer(answer, await store.ask(queryOfGraphs(query, url)))) needed.push(id);
  return needed;
}
