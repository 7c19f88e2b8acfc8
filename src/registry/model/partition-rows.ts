import type { FactStatus } from "../descriptions/void-description.ts";
import type { KnownCount, KnownProperty } from "./schema.ts";
import type { TextPool } from "./text-pool.ts";

const statuses: readonly (FactStatus | undefined)[] = [
  undefined,
  "exact",
  "lowerBound",
  "exists",
  "sampled",
  "claimed",
];
/** Flags of a row: three statuses, whether its list of objects is complete, and whether all are literals of one datatype. */
export const radix = statuses.length;
const completeFlag = radix ** 3;
const oneTypeFlag = 2 * completeFlag;

type PropertyCounts = Pick<KnownProperty, "triples" | "distinctSubjects" | "distinctObjects">;

/** Counts of a property, and the datatype that all of its values have. */
export type KnownCounts = PropertyCounts & { readonly datatype: string | undefined };

/** Partitions by property: the first are those of the whole dataset, which alone have distinct counts. */
export class Rows {
  readonly whole: number;
  readonly #pool: TextPool;
  readonly #properties: Uint32Array;
  readonly #triples: Float64Array;
  readonly #distinct: Float64Array;
  readonly #flags: Uint16Array;
  readonly #objectsFrom: Uint32Array;
  /** Object classes as they are, datatypes negative. */
  readonly #objects: Int32Array;

  constructor(rows: readonly KnownProperty[], whole: number, pool: TextPool) {
    this.whole = whole;
    this.#pool = pool;
    this.#properties = Uint32Array.from(rows, ({ property }) => pool.take(property));
    this.#triples = Float64Array.from(rows, ({ triples }) => triples?.value ?? Number.NaN);
    this.#distinct = new Float64Array(2 * whole).fill(Number.NaN);
    this.#flags = new Uint16Array(rows.length);
    this.#objectsFrom = new Uint32Array(rows.length + 1);
    const objects: number[] = [];
    for (const [at, row] of rows.entries()) {
      this.#objectsFrom[at] = objects.length;
      for (const { iri } of row.objectClasses) objects.push(pool.take(iri));
      for (const { iri } of row.datatypes) objects.push(-pool.take(iri));
      this.#flags[at] =
        statusOf(row.triples) + (row.objectsComplete ? completeFlag : 0) + (hasOneType(row) ? oneTypeFlag : 0);
      if (at >= whole) continue;
      this.#distinct[2 * at] = row.distinctSubjects?.value ?? Number.NaN;
      this.#distinct[2 * at + 1] = row.distinctObjects?.value ?? Number.NaN;
      this.#flags[at] += radix * statusOf(row.distinctSubjects) + radix ** 2 * statusOf(row.distinctObjects);
    }
    this.#objectsFrom[rows.length] = objects.length;
    this.#objects = Int32Array.from(objects);
  }

  slice(from: number, to: number): readonly KnownProperty[] {
    return Array.from({ length: Math.max(0, to - from) }, (_, step) => this.#row(from + step));
  }

  /** Triples of the property at a place of the whole dataset's list. */
  triplesOf(at: number): KnownCount | undefined {
    return at < this.whole ? countOf(this.#triples[at], (this.#flags[at] ?? 0) % radix) : undefined;
  }

  texts(): readonly Iterable<number>[] {
    return [this.#properties, this.#objects];
  }

  /** Of any class when absent. */
  leadingTo(classes: ReadonlySet<number> | undefined): ReadonlyMap<number, ReadonlySet<number>> {
    const found = new Map<number, Set<number>>();
    for (const [at, property] of this.#properties.entries()) {
      for (const object of this.#objects.subarray(this.#objectsFrom[at], this.#objectsFrom[at + 1])) {
        if (classes === undefined ? object > 0 : classes.has(object))
          found.set(property, (found.get(property) ?? new Set()).add(object));
      }
    }
    return found;
  }

  counts(at: number): PropertyCounts {
    const flags = this.#flags[at] ?? 0;
    return {
      triples: countOf(this.#triples[at], flags % radix),
      distinctSubjects: countOf(this.#distinct[2 * at], Math.floor(flags / radix) % radix),
      distinctObjects: countOf(this.#distinct[2 * at + 1], Math.floor(flags / radix ** 2) % radix),
    };
  }

  known(at: number): KnownCounts {
    const isOneType = (this.#flags[at] ?? 0) >= oneTypeFlag;
    return { ...this.counts(at), datatype: isOneType ? this.#row(at).datatypes[0]?.iri : undefined };
  }

  #row(at: number): KnownProperty {
    const flags = this.#flags[at] ?? 0;
    const objects = this.#objects.subarray(this.#objectsFrom[at], this.#objectsFrom[at + 1]);
    const named = (numbers: Int32Array) => Array.from(numbers, (each) => ({ iri: this.#pool.text(Math.abs(each)) }));
    return {
      property: this.#pool.text(this.#properties[at]),
      ...this.counts(at),
      objectClasses: named(objects.filter((each) => each > 0)),
      datatypes: named(objects.filter((each) => each < 0)),
      objectsComplete: flags >= completeFlag,
    };
  }
}

/** As many triples lead to literals of the one datatype as the property has. */
const hasOneType = ({ datatypes, objectsComplete, triples }: KnownProperty): boolean =>
  objectsComplete &&
  datatypes.length === 1 &&
  datatypes.every((one) => one.triples?.status === "exact" && one.triples.value === triples?.value);

export const statusOf = (count: KnownCount | undefined): number => Math.max(0, statuses.indexOf(count?.status));

export function countOf(value: number | undefined, at: number): KnownCount | undefined {
  const status = statuses[at];
  return status === undefined || value === undefined ? undefined : { value, status };
}
