import type { WholeAnswer } from "../../../outbound/whole-answer.ts";
import type * as RDF from "@rdfjs/types";
import type { FactKind } from "./fact-kinds.ts";
import { iriOf } from "../values.ts";
import { itemAt } from "../../../values.ts";

/** One group of solutions of a key. */
export interface Group {
  /** IRIs of the kind's detail variables, in their order. */
  readonly detail: readonly string[];
  /** Solutions; absent where aggregates do not work. */
  readonly n?: number | undefined;
  /** Distinct subjects. */
  readonly ds?: number | undefined;
  /** Distinct objects. */
  readonly do?: number | undefined;
}

/** The groups of one key, by their detail IRIs joined with spaces. */
export type Groups = ReadonlyMap<string, Group>;

/** The groups that one answer holds. */
export interface Observation {
  readonly groups: ReadonlyMap<string, Groups>;
  readonly record: number;
  /** Nothing in the answer itself speaks against its being whole: not partial, not late, not cut at a row cap. */
  readonly whole: boolean;
  /** As many rows as the endpoint may ever give: the rest was cut. */
  readonly cut: boolean;
  /** Keys of which a row could not be used: a strange count, an IRI that may not be written, the same group twice. */
  readonly flawed: ReadonlySet<string>;
  /** Rows whose key could not be used. */
  readonly skipped: number;
  readonly rows: number;
  readonly durationMs: number;
}

/** A key, and an answer about it. */
export interface KeyObservation {
  readonly key: string;
  readonly observation: Observation;
}

/** Origin of an answer, and its question. */
interface AnswerContext {
  readonly kind: FactKind;
  /** The key of a query that named only one. */
  readonly only?: string | undefined;
  readonly record: number;
  readonly sound: boolean;
  readonly cut: boolean;
  /** True if groups carry counts. */
  readonly counted: boolean;
}

/** The groups in an answer; terms that queries cannot hold are left out and counted in `flawed` and `skipped`. */
export function readObservation(answer: WholeAnswer, context: AnswerContext): Observation {
  const groups = new Map<string, Map<string, Group>>();
  const flawed = new Set<string>();
  let skipped = 0;
  for (const row of answer.rows) {
    if (isNothing(row, context)) continue;
    const key = context.only ?? iriOf(row.get(context.kind.key));
    if (key === undefined) {
      skipped++;
      continue;
    }
    const group = groupOf(row, context);
    if (group === undefined) {
      flawed.add(key);
      continue;
    }
    const name = group.detail.join(" ");
    const ofKey = groups.get(key) ?? new Map<string, Group>();
    if (ofKey.has(name)) flawed.add(key);
    ofKey.set(name, group);
    groups.set(key, ofKey);
  }
  return {
    groups,
    record: context.record,
    whole: context.sound && !context.cut,
    cut: context.cut,
    flawed,
    skipped,
    rows: answer.rows.length,
    durationMs: answer.durationMs,
  };
}

/** The one row with zeros that an aggregate over nothing gives. */
function isNothing(row: ReadonlyMap<string, RDF.Term>, { kind, only, counted }: AnswerContext): boolean {
  const bound = [...(only === undefined ? [kind.key] : []), ...kind.detail].some((name) => row.has(name));
  return counted && !bound && countOf(row.get("n")) === 0;
}

function groupOf(row: ReadonlyMap<string, RDF.Term>, { kind, counted }: AnswerContext): Group | undefined {
  const detail = kind.detail.flatMap((name) => iriOf(row.get(name)) ?? []);
  if (detail.length < kind.detail.length) return undefined;
  if (!counted) return { detail };
  const n = countOf(row.get("n"));
  const ds = countOf(row.get("ds"));
  const objects = countOf(row.get("do"));
  if (n === undefined || n === 0) return undefined;
  if ((row.has("ds") && !isPart(ds, n)) || (row.has("do") && !isPart(objects, n))) return undefined;
  return { detail, n, ds, do: objects };
}

const isPart = (part: number | undefined, n: number): boolean => part !== undefined && part > 0 && part <= n;

/** A count: a non-negative whole number below 2^53 in decimal digits, whatever its datatype. */
export function countOf(term: RDF.Term | undefined): number | undefined {
  if (term?.termType !== "Literal" || !/^\+?\d{1,15}(?:\.0{1,5})?$/u.test(term.value)) return undefined;
  return Number(term.value);
}

/** Solutions of a key in an observation; undefined when any group is not counted. */
export function solutionsOf(groups: Groups | undefined): number | undefined {
  let sum = 0;
  for (const { n } of groups?.values() ?? []) {
    if (n === undefined) return undefined;
    sum += n;
  }
  return sum;
}

/** An observation with one group for each key, which has all of its solutions. */
export function summed(observation: Observation): Observation {
  const groups = new Map<string, Groups>();
  for (const [key, own] of observation.groups) groups.set(key, new Map([["", { detail: [], n: solutionsOf(own) }]]));
  return { ...observation, groups };
}

/**
 * True if an answer may have been cut at a row cap: it has as many rows as the endpoint's known cap or, where the cap
 * is unknown, a round number that people choose as one.
 */
export function isCut(rows: number, cap: number | undefined): boolean {
  if (cap !== undefined) return rows >= cap;
  return rows >= 100 && (rows % 100 === 0 || Number.isInteger(Math.log2(rows)) || rows % 1024 === 0);
}

const none: Groups = new Map();

/** The keys of which two answers say the same, and those of which at least one of them is wrong or the data changed. */
export function compare(keys: readonly string[], one: Observation, other: Observation) {
  const agreed: string[] = [];
  const differing: string[] = [];
  for (const key of keys) {
    const same = sameGroups(one.groups.get(key) ?? none, other.groups.get(key) ?? none);
    (same ? agreed : differing).push(key);
  }
  return { agreed, differing };
}

/** True if two sets of groups are the same, counts included where both have them. */
export function sameGroups(one: Groups, other: Groups): boolean {
  if (one.size !== other.size) return false;
  for (const [name, group] of one) {
    const twin = other.get(name);
    if (twin === undefined) return false;
    if (!sameCount(group.n, twin.n) || !sameCount(group.ds, twin.ds) || !sameCount(group.do, twin.do)) return false;
  }
  return true;
}

const sameCount = (one: number | undefined, other: number | undefined): boolean =>
  one === undefined || other === undefined || one === other;

/** Sums of counts by the first detail IRI (a property), or one sum for kinds with a single detail variable. */
export function sumsByFirst(groups: Groups, details: number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { detail, n } of groups.values()) {
    const name = details > 1 ? itemAt(detail, 0) : "";
    sums.set(name, (sums.get(name) ?? 0) + (n ?? 0));
  }
  return sums;
}
