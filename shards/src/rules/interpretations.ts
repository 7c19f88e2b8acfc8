/**
 * A point that the paper leaves open; the report shows several side by side. Descriptions, manifests and reports call it a reading.
 */
export interface Interpretation {
  readonly name: string;
  readonly classRule: "pair" | "single";
  readonly verticalRule: "pair" | "single";
  /** `rdf:type` is a predicate like others, for applicability and candidates. */
  readonly typeIsPredicate: boolean;
  /** Horizontal rules are candidates from, and cover, queries to which class sharding applies too. */
  readonly horizontalCoversJoins: boolean;
  /** Classes also from `rdfs:domain` and `rdfs:range` of the predicates. */
  readonly infer: boolean;
  /** Look inside FILTER (NOT) EXISTS too. */
  readonly exists: boolean;
  /** Buckets of horizontal rules; the paper's is 2. */
  readonly buckets: number;
}

/** The definitions of the paper word by word. */
export const literalInterpretation: Interpretation = {
  name: "literal",
  classRule: "pair",
  verticalRule: "pair",
  typeIsPredicate: true,
  horizontalCoversJoins: false,
  infer: false,
  exists: false,
  buckets: 2,
};

const variant = (name: string, options: Partial<Interpretation>): Interpretation => ({
  ...literalInterpretation,
  ...options,
  name,
});

/** Every interpretation that the report shows, each with one option other than the literal one; the literal one first. */
export const interpretations: readonly Interpretation[] = [
  literalInterpretation,
  variant("single-class", { classRule: "single" }),
  variant("horizontal-covers-joins", { horizontalCoversJoins: true }),
  variant("single-predicate", { verticalRule: "single" }),
  variant("type-is-no-predicate", { typeIsPredicate: false }),
  variant("infer", { infer: true }),
  variant("exists", { exists: true }),
  variant("infer-and-exists", { infer: true, exists: true }),
];

/** The interpretation of a name; undefined for a name that none has. */
export function interpretationNamed(name: string): Interpretation | undefined {
  return interpretations.find((each) => each.name === name);
}
