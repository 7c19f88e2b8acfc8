import type * as RDF from "@rdfjs/types";
import type { AskedAnswer } from "../catalog/asking.ts";
import type { MeasurementRecord } from "../void/void-description.ts";
import type { Family } from "./families.ts";
import { isWritable } from "./iri-text.ts";

/** One group of solutions of a key. */
export interface Group {
  /** IRIs of the family's detail variables, in their order. */
  readonly detail: readonly string[];
  /** Solutions; absent where aggregates do not work. */
  readonly n?: number;
  /** Distinct subjects. */
  readonly ds?: number;
  /** Distinct objects. */
  readonly do?: number;
}

/** The groups of one key, by their detail IRIs joined with spaces. */
export type Groups = ReadonlyMap<string, Group>;

/** One answer to a query of a family. */
export interface Observation {
  readonly groups: ReadonlyMap<string, Groups>;
  readonly record: number;
  readonly rung: MeasurementRecord["rung"];
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

/** Where an answer came from and how it must be read. */
export interface Reading {
  readonly family: Family;
  /** The key of a query that named only one. */
  readonly only?: string;
  readonly record: number;
  readonly rung: MeasurementRecord["rung"];
  readonly sound: boolean;
  readonly cut: boolean;
  /** Whether groups carry counts. */
  readonly counted: boolean;
}

/** The groups in an answer; what may not be written into queries is left out and told in `flawed` and `skipped`. */
export function readObservation(answer: AskedAnswer, reading: Reading): Observation {
  const groups = new Map<string, Map<string, Group>>();
  const flawed = new Set<string>();
  let skipped = 0;
  for (const row of answer.rows) {
    if (isNothing(row, reading)) continue;
    const key = reading.only ?? iriOf(row.get(reading.family.key));
    if (key === undefined) {
      skipped++;
      continue;
    }
    const group = groupOf(row, reading);
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
    record: reading.record,
    rung: reading.rung,
    whole: reading.sound && !reading.cut,
    cut: reading.cut,
    flawed,
    skipped,
    rows: answer.rows.length,
    durationMs: answer.durationMs,
  };
}

/** The one row with zeros that an aggregate over nothing gives. */
function isNothing(row: ReadonlyMap<string, RDF.Term>, { family, only, counted }: Reading): boolean {
  const bound = [...(only === undefined ? [family.key] : []), ...family.detail].some((name) => row.has(name));
  return counted && !bound && countOf(row.get("n")) === 0;
}

function groupOf(row: ReadonlyMap<string, RDF.Term>, { family, counted }: Reading): Group | undefined {
  const detail = family.detail.flatMap((name) => iriOf(row.get(name)) ?? []);
  if (detail.length < family.detail.length) return undefined;
  if (!counted) return { detail };
  const n = countOf(row.get("n"));
  const ds = countOf(row.get("ds"));
  const objects = countOf(row.get("do"));
  if (n === undefined || n === 0) return undefined;
  if ((row.has("ds") && !isPart(ds, n)) || (row.has("do") && !isPart(objects, n))) return undefined;
  return { detail, n, ...(ds !== undefined && { ds }), ...(objects !== undefined && { do: objects }) };
}

const isPart = (part: number | undefined, n: number): boolean => part !== undefined && part > 0 && part <= n;

/** An IRI that may be written into queries. */
export function iriOf(term: RDF.Term | undefined): string | undefined {
  return term?.termType === "NamedNode" && isWritable(term.value) ? term.value : undefined;
}

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
