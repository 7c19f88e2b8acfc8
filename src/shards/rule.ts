/** Triples with these predicates lie in different shards: two of a pair, or one apart from the rest. */
export interface VerticalRule {
  readonly kind: "vertical";
  /** One or two predicate IRIs, sorted. */
  readonly predicates: readonly string[];
}

/** Triples of instances of these classes lie in different shards: two of a pair, or one apart from the rest. */
export interface ClassRule {
  readonly kind: "class";
  /** One or two class IRIs, sorted. */
  readonly classes: readonly string[];
}

/** Instances of a class are spread by a hash of the subject's IRI. */
export interface HorizontalRule {
  readonly kind: "horizontal";
  readonly class: string;
  /** Number of buckets, 2 or more. */
  readonly buckets: number;
}

/** How triples are kept apart (Dobriy et al., Agentic SPARQL, section 4). */
export type Rule = VerticalRule | ClassRule | HorizontalRule;

export type RuleKind = Rule["kind"];

/** What the paper leaves open; the report shows several readings side by side. */
export interface Reading {
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

/** The rule kinds in the order in which they are asked whether they claim a triple. */
export type Precedence = readonly [RuleKind, RuleKind, RuleKind];
