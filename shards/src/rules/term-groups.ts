import { compareText } from "../../../src/rdf/canonical.ts";
import { itemAt } from "../../../src/values.ts";
import type { LearnedCells } from "../load/cells.ts";
import { coverInstanceOf } from "./choose-rules.ts";
import { isLess } from "./choose-federation.ts";
import { candidatesOf, irisOfRule } from "./candidates.ts";
import type { Candidate, Cell, Interpretation, Problem, QueryFeatures, Rule } from "./problem.ts";
import { greedyCover, reduceCover } from "./set-cover.ts";

/**
 * Classes and predicates that rules treat as one, each list a group of its own: a rule that names the first of them means all. A term
 * that is in none stands for itself.
 */
export interface TermGroups {
  readonly classes: readonly (readonly string[])[];
  readonly predicates: readonly (readonly string[])[];
  /** Number of shards over which a hash of the subject spreads the triples that no rule claims. */
  readonly baseBuckets: number;
}

/** A problem as rules over groups see it. */
export interface GroupedProblem extends Problem {
  /** The cells that its rules can tell apart. */
  readonly placed: LearnedCells;
  /** Absent where each term stands for itself. */
  readonly groups?: TermGroups;
  /** Of each cell of the dataset the number of the one in `placed` that it is in; absent where each is one. */
  readonly parts?: readonly number[];
}

/** The problem, with rules over groups of terms where few rules over single ones do not cover the queries. */
export function groupedProblem(problem: Problem, cells: LearnedCells, reading: Interpretation): GroupedProblem {
  const groups = termGroupsOf(problem, cells.cells, reading.buckets);
  if (groups === undefined) return { ...problem, placed: cells };
  const { parts, ...placed } = groupedCells(cells, groups);
  return { ...problem, candidates: groupedCandidates(problem.queries, groups, reading), placed, groups, parts };
}

/** More rules, and their shards, are too many to be read and asked: rules are then about groups. */
const mostRules = 16;
/** Three groups for horizontal rules beside the pairs: the kinds of rules then have about the published shares. */
const classGroups = 7;
const predicateGroups = 4;
/** The first groups are pairs: two rules each part a pair of classes or predicates. */
const paired = 4;

/**
 * The groups of a dataset whose questions no few rules about single terms cover; undefined where few do. Terms
 * that a question names together are in different groups as far as possible, and the groups have about as many triples.
 */
export function termGroupsOf(problem: Problem, cells: readonly Cell[], baseBuckets: number): TermGroups | undefined {
  const { core, forced } = reduceCover(coverInstanceOf(problem).instance);
  if (forced.length + greedyCover(core).length <= mostRules) return undefined;
  const sizes = { classes: new Map<string, number>(), predicates: new Map<string, number>() };
  const named = new Set(problem.queries.flatMap(({ predicates }) => predicates));
  for (const { types, predicate, triples } of cells) {
    for (const type of types) sizes.classes.set(type, (sizes.classes.get(type) ?? 0) + triples);
    if (named.has(predicate) && predicate !== rdfType) {
      sizes.predicates.set(predicate, (sizes.predicates.get(predicate) ?? 0) + triples);
    }
  }
  return {
    baseBuckets,
    classes: dealt(
      sizes.classes,
      problem.queries.map(({ classes }) => classes),
      classGroups,
    ),
    predicates: dealt(
      sizes.predicates,
      problem.queries.map(({ predicates }) => predicates),
      predicateGroups,
    ),
  };
}

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** How many times its share a group may have, so that terms that are named together come into a pair of groups. */
const slack = 1.1;

/**
 * Deals terms into groups, the largest first. A term comes into a group that has room, without one that some query names beside it
 * where there is such a group, and best into one of a pair whose other one has those: rules part pairs. Else into the smallest.
 */
function dealt(
  sizes: ReadonlyMap<string, number>,
  named: readonly (readonly string[])[],
  number: number,
): readonly (readonly string[])[] {
  const beside = new Map<string, Set<string>>();
  for (const terms of named) {
    if (terms.length < 2) continue;
    for (const term of terms) beside.set(term, (beside.get(term) ?? new Set()).union(new Set(terms)));
  }
  const room = (slack * sizes.values().reduce((sum, size) => sum + size, 0)) / number;
  const groups = Array.from({ length: number }, () => ({ terms: new Set<string>(), size: 0 }));
  const ordered = [...sizes].toSorted(([left, a], [right, b]) => b - a || compareText(left, right));
  for (const [term, size] of ordered) {
    const others = beside.get(term) ?? new Set();
    const found = groups.map((group, at) => {
      const partner = (at < paired ? groups[at ^ 1]?.terms : undefined) ?? new Set();
      const costs = [
        group.size + size > room ? 1 : 0,
        others.intersection(group.terms).size,
        -others.intersection(partner).size,
        group.size,
      ];
      return { group, costs };
    });
    const { group } = found.reduce((best, each) => (isLess(each.costs, best.costs) ? each : best));
    group.terms.add(term);
    group.size += size;
  }
  return groups.flatMap(({ terms }) => (terms.size === 0 ? [] : [[...terms].toSorted(compareText)]));
}

/** The term that stands for a class or predicate in rules: the first of its group, or itself. */
export function standIns(groups: readonly (readonly string[])[] = []): (term: string) => string {
  const first = new Map(groups.flatMap((terms) => terms.map((term) => [term, itemAt(terms, 0)] as const)));
  return (term) => first.get(term) ?? term;
}

/** All groups, of classes and of predicates; none without groups. */
export const allGroups = (groups?: TermGroups): readonly (readonly string[])[] => [
  ...(groups?.classes ?? []),
  ...(groups?.predicates ?? []),
];

/** The groups that the rules name. */
export function claimedGroups({ classes, predicates, baseBuckets }: TermGroups, rules: readonly Rule[]): TermGroups {
  const named = new Set(rules.flatMap(irisOfRule));
  const isNamed = ([first = ""]: readonly string[]): boolean => named.has(first);
  return { classes: classes.filter(isNamed), predicates: predicates.filter(isNamed), baseBuckets };
}

/** Of the queries; of rules over groups that cover fewer the kinds would look better than they are. */
const leastCovered = 0.05;

/** The candidate rules over groups. */
function groupedCandidates(
  queries: readonly QueryFeatures[],
  groups: TermGroups,
  reading: Interpretation,
): readonly Candidate[] {
  const [classOf, predicateOf] = [standIns(groups.classes), standIns(groups.predicates)];
  const grouped = queries.map((query) => ({
    ...query,
    predicates: distinct(query.predicates.map(predicateOf)),
    classes: distinct(query.classes.map(classOf)),
  }));
  return candidatesOf(grouped, reading).filter(({ covers }) => covers.length >= leastCovered * queries.length);
}

/** Cells that no rule over groups can tell apart as one, and of each cell the number of the one that it is in. */
export function groupedCells({ cells, touches }: LearnedCells, groups: TermGroups) {
  const [classOf, predicateOf] = [standIns(groups.classes), standIns(groups.predicates)];
  const numbers = new Map<string, number>();
  const merged: Cell[] = [];
  const parts = cells.map((cell) => {
    const types = distinct(cell.types.map(classOf));
    const predicate = predicateOf(cell.predicate);
    const key = JSON.stringify([types, predicate, cell.bucket]);
    const number = numbers.get(key) ?? merged.length;
    numbers.set(key, number);
    const triples = (merged[number]?.triples ?? 0) + cell.triples;
    merged[number] = { types, predicate, bucket: cell.bucket, triples };
    return number;
  });
  const touched = touches.map((found) =>
    [...new Set(found.map((cell) => itemAt(parts, cell)))].toSorted((a, b) => a - b),
  );
  return { cells: merged, touches: touched, parts };
}

const distinct = (terms: readonly string[]): readonly string[] => [...new Set(terms)].toSorted(compareText);
