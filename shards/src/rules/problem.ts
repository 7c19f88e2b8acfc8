/**
 * A point that the paper leaves open; the report shows several side by side. Descriptions, manifests and reports call it a reading.
 */
export interface Interpretation extends FeatureOptions {
  readonly name: string;
  readonly classRule: "pair" | "single";
  readonly verticalRule: "pair" | "single";
  /** `rdf:type` is a predicate like others, for applicability and candidates. */
  readonly typeIsPredicate: boolean;
  /** Horizontal rules are candidates from, and cover, queries to which class sharding applies too. */
  readonly horizontalCoversJoins: boolean;
  /** Buckets of horizontal rules; the paper's is 2. */
  readonly buckets: number;
}

/** Where features of a query are looked for. */
export interface FeatureOptions {
  /** Classes also from `rdfs:domain` and `rdfs:range` of the predicates. */
  readonly infer: boolean;
  /** Look inside FILTER (NOT) EXISTS too. */
  readonly exists: boolean;
}

/** A query of the benchmark. */
export interface ShardQuery {
  readonly id: string;
  readonly text: string;
  /** Its question in natural language. */
  readonly question?: string | undefined;
  /** Ids of queries with the same text, this one first. */
  readonly same: readonly string[];
  /** Their questions, by id, where they differ from the first one. */
  readonly questions?: Readonly<Record<string, string>> | undefined;
}

/** A place in a triple. */
export type TriplePlace = "subject" | "predicate" | "object";

/** A triple pattern as the placement of triples sees it: its constants. N-Triples terms; undefined for variables. */
export interface Pattern {
  readonly subject?: string | undefined;
  readonly predicate?: string | undefined;
  readonly object?: string | undefined;
  /** Where it is matched: `named` graphs, `none`, or the IRI of one (in brackets); the default graph when absent. */
  readonly graph?: string | undefined;
  /** Excluded predicates (negated property sets): IRIs without brackets, sorted. */
  readonly exceptPredicates?: readonly string[] | undefined;
  /** The same variable stands at several places: those are equal. */
  readonly equal?: readonly (readonly [TriplePlace, TriplePlace])[] | undefined;
}

/** Features of a query for sharding. */
export interface QueryFeatures {
  readonly query: ShardQuery;
  /** P(q): IRIs of its predicates, sorted. */
  readonly predicates: readonly string[];
  /** C(q): IRIs of its classes, sorted. */
  readonly classes: readonly string[];
  /** S(q): number of its subject variables. */
  readonly subjectVariables: number;
  /** Its triple patterns, property paths as the patterns that they may ask for; inside EXISTS too. */
  readonly patterns: readonly Pattern[];
}

/** A candidate rule and the queries that it covers, by their place in `Problem.queries`. */
export interface Candidate {
  readonly rule: Rule;
  readonly covers: readonly number[];
}

/**
 * Triples that no rule can tell apart: one set of classes of the subject, one predicate, one bucket of the subject's hash.
 */
export interface Cell {
  /** Class IRIs of the subject, sorted; empty for an untyped one. */
  readonly types: readonly string[];
  readonly predicate: string;
  /** md5 of the subject's IRI, first 8 hex digits, mod the number of buckets. */
  readonly bucket: number;
  readonly triples: number;
  /** Class IRIs of its objects, sorted; absent where none has a class. */
  readonly objectClasses?: readonly string[] | undefined;
}

/** The problem to solve. */
export interface Problem {
  readonly queries: readonly QueryFeatures[];
  /** Canonical order: by kind, then by IRIs. */
  readonly candidates: readonly Candidate[];
  /** In guaranteed and balanced mode. */
  readonly placement?: {
    readonly precedence: Precedence;
    readonly cells: readonly Cell[];
    /** For each query: the cells with a triple that one of its patterns matches. */
    readonly touches: readonly (readonly number[])[];
    /** Only in balanced mode, of each query: sets of cells that no shard may have alone, as it may then have the whole answer. */
    readonly needs?: readonly (readonly (readonly number[])[])[] | undefined;
    readonly targets?: ShardTargets | undefined;
    /** Of rules over groups: a kind whose chosen rules cover fewer queries is missing, and no rule may leave another one without triples. */
    readonly leastCovered?: number | undefined;
  };
}

/** A builder's targets for the shards beside federation; absent ones do not count. */
export interface ShardTargets {
  /** 2 or more. */
  readonly maxShards?: number | undefined;
  /** Least size of a shard. */
  readonly minShardTriples?: number | undefined;
  /** Shares of the chosen rules, 0 to 1; a kind that is absent may have any. */
  readonly shares?: Readonly<Partial<Record<RuleKind, number>>> | undefined;
}

/** Solution of the solver. */
export interface Solution {
  readonly reading: Interpretation;
  /** Chosen rules in canonical order. */
  readonly rules: readonly Rule[];
  readonly cost: number;
  /** No choice of rules costs less; equal to `cost` when `proven`. */
  readonly lowerBound: number;
  readonly proven: boolean;
  /** Queries without any candidate (paper), or that no choice of rules can make federated, with the reason. */
  readonly impossible: readonly { readonly query: number; readonly reason: string }[];
  readonly seconds: number;
  /** Minimised criteria, in order; not in paper mode, which has but one criterion. */
  readonly criteria?: readonly Criterion[] | undefined;
  /** The solver's words when it failed; findings without it are the solution. */
  readonly trouble?: string | undefined;
}

/** A named objective of the solver (`shards/objectives.lp`) and its value. */
export interface Criterion {
  readonly name:
    | "fewest_unfederated"
    | "fewest_answered_alone"
    | "fewest_surplus_shards"
    | "fewest_small_shards"
    | "nearest_shares"
    | "fewest_one_sided"
    | "fewest_uncovered"
    | "most_kinds"
    | "fewest_rules"
    | "fewest_shards"
    | "smallest_largest_shard";
  readonly cost: number;
  /** None of the choices that are as good in the criteria before costs less. */
  readonly proven: boolean;
}

/** Triples with these predicates lie in different shards: two of a pair, or one apart from the rest. */
interface VerticalRule {
  readonly kind: "vertical";
  /** One or two predicate IRIs, sorted. */
  readonly predicates: readonly string[];
}

/** Triples of instances of these classes lie in different shards: two of a pair, or one apart from the rest. */
interface ClassRule {
  readonly kind: "class";
  /** One or two class IRIs, sorted. */
  readonly classes: readonly string[];
}

/** Instances of a class are spread by a hash of the subject's IRI. */
interface HorizontalRule {
  readonly kind: "horizontal";
  readonly class: string;
  /** Number of buckets, 2 or more. */
  readonly buckets: number;
}

/** How triples are kept apart (Dobriy et al., Agentic SPARQL, section 4). */
export type Rule = VerticalRule | ClassRule | HorizontalRule;

export type RuleKind = Rule["kind"];

/** In canonical order. */
export const ruleKinds = ["vertical", "class", "horizontal"] as const satisfies readonly RuleKind[];

/** The rule kinds in the order in which they are asked whether they claim a triple. */
export type Precedence = readonly [RuleKind, RuleKind, RuleKind];
