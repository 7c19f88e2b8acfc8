import type { Reading } from "./problem.ts";

/** The definitions of the paper word by word. */
export const literalReading: Reading = {
  name: "literal",
  classRule: "pair",
  verticalRule: "pair",
  typeIsPredicate: true,
  horizontalCoversJoins: false,
  infer: false,
  exists: false,
  buckets: 2,
};

const variant = (name: string, options: Partial<Reading>): Reading => ({ ...literalReading, ...options, name });

/** Every reading that the report shows, each with one option other than the literal one; the literal one first. */
export const readings: readonly Reading[] = [
  literalReading,
  variant("single-class", { classRule: "single" }),
  variant("horizontal-covers-joins", { horizontalCoversJoins: true }),
  variant("single-predicate", { verticalRule: "single" }),
  variant("type-is-no-predicate", { typeIsPredicate: false }),
  variant("infer", { infer: true }),
  variant("exists", { exists: true }),
  variant("infer-and-exists", { infer: true, exists: true }),
];

/** The reading of a name; undefined for a name that none has. */
export function readingNamed(name: string): Reading | undefined {
  return readings.find((reading) => reading.name === name);
}
