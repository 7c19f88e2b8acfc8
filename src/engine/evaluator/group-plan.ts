import type { UnitDemand } from "../demand.ts";
import type { MergedGraph } from "../sources/merged-graph.ts";
import { type PatternUnit, unitVariables } from "../sources/pattern-units.ts";
import { type TriplePattern, variablesOf } from "../sources/triple-pattern.ts";
import type { Operation } from "./algebra.ts";
import { type Conjunct, conjunctVariables, groupVariables, triplesIn } from "./conjuncts.ts";
import { leafOf } from "./leaf.ts";
import { joinOf } from "./operations.ts";
import { type GraphContext, pathLeaf, unitLeaf } from "./pattern-leaves.ts";
import { itemAt } from "../../values.ts";

/** Plans a group: which of its patterns are asked as one, where, and for what; its solutions are the join of its parts. */
export function planGroup(context: GraphContext, group: readonly Conjunct[], demand: UnitDemand): Operation {
  const { graph } = context;
  const certain = new Set(groupVariables(group).flatMap(({ name, certain: always }) => (always ? [name] : [])));
  const conditions = demand.conditions.filter(({ variables }) => variables.every((name) => certain.has(name)));
  const others = group.filter(({ kind }) => kind !== "triple");
  const triples = group.flatMap((conjunct) => (conjunct.kind === "triple" ? [conjunct.pattern] : []));
  const units = graph.unitsOf(triples);
  const isOnly = units.length + others.length === 1;
  const limit = isOnly && conditions.length === 0 ? demand.limit : undefined;
  const named = [...units.map((unit) => unitVariables(unit)), ...others.map(namesOf)];
  const wantedOf = (own: readonly string[]): ReadonlySet<string> =>
    new Set([...demand.variables, ...named.filter((names) => names !== own).flat()]);

  const parts = units.map((unit, index): Operation => {
    const names = itemAt(named, index);
    const wanted = wantedOf(names);
    const optionals = demand.optionals?.filter((patterns) => units.find((one) => takes(graph, one, patterns)) === unit);
    const added = ownVariables(unit, optionals).filter((name) => demand.variables.has(name));
    const variables = new Set([...names.filter((name) => wanted.has(name)), ...added]);
    return leafOf(unitLeaf(context, unit, { ...demand, conditions, limit, variables, optionals }));
  });
  const otherParts = others.flatMap((conjunct, index): readonly Operation[] => {
    if (conjunct.kind === "path") return [leafOf(pathLeaf(context, conjunct))];
    if (conjunct.kind !== "union") return [];
    const inside = { ...demand, limit, variables: wantedOf(itemAt(named, units.length + index)) };
    return [{ type: "union", input: conjunct.branches.map((branch) => planGroup(context, branch, inside)) }];
  });
  return joinOf([...parts, ...otherParts], conditions);
}

/** True if a unit of a group takes patterns in OPTIONAL along; all variables that they share with the group are its own. */
export function takesAlong(
  graph: MergedGraph,
  group: readonly Conjunct[],
  patterns: readonly TriplePattern[],
): boolean {
  const triples = triplesIn(group) ?? [];
  const unit = graph.unitsOf(triples).find((one) => takes(graph, one, patterns));
  if (!unit) return false;
  const own = ownVariables(unit, [patterns]);
  return !triples.some((pattern) => variablesOf(pattern).some((name) => own.includes(name)));
}

/** Only that one: the first that shares something with them and has all of their matches. */
const takes = (graph: MergedGraph, unit: PatternUnit, patterns: readonly TriplePattern[]): boolean => {
  const names = unitVariables(unit);
  return unitVariables({ patterns }).some((name) => names.includes(name)) && graph.takesOptional(unit, patterns);
};

/** Variables of patterns in OPTIONAL that are not the unit's. */
function ownVariables(unit: PatternUnit, optionals: readonly (readonly TriplePattern[])[] = []): readonly string[] {
  const names = unitVariables(unit);
  return unitVariables({ patterns: optionals.flat() }).filter((name) => !names.includes(name));
}

const namesOf = (conjunct: Conjunct): readonly string[] => conjunctVariables(conjunct).map(({ name }) => name);
