import { compareText } from "../../../src/rdf/canonical.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import {
  type Candidate,
  type QueryFeatures,
  type Rule,
  type RuleKind,
  ruleKinds,
  type Interpretation,
} from "./problem.ts";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** P(q) as a reading counts it. */
function predicatesOf(features: QueryFeatures, reading: Interpretation): readonly string[] {
  return reading.typeIsPredicate ? features.predicates : features.predicates.filter((iri) => iri !== rdfType);
}

/** The kinds of sharding that apply to a query: vertical |P| >= 2, class |C| >= 2, horizontal |S| >= 1 and |C| >= 1. */
export function applicableKinds(features: QueryFeatures, reading: Interpretation): ReadonlySet<RuleKind> {
  const kinds = new Set<RuleKind>();
  if (predicatesOf(features, reading).length >= 2) kinds.add("vertical");
  if (features.classes.length >= 2) kinds.add("class");
  if (features.subjectVariables >= 1 && features.classes.length >= 1) kinds.add("horizontal");
  return kinds;
}

/** Numbers of questions: merged queries count as often as they were asked. */
export interface Applicability {
  readonly questions: number;
  readonly distinct: number;
  readonly vertical: number;
  readonly class: number;
  readonly horizontal: number;
  /** Properties that no kind of rule applies to. */
  readonly none: number;
}

/** To how many of the questions each kind of sharding applies. */
export function applicability(features: readonly QueryFeatures[], reading: Interpretation): Applicability {
  const counts = { questions: 0, distinct: features.length, vertical: 0, class: 0, horizontal: 0, none: 0 };
  for (const one of features) {
    const weight = one.query.same.length;
    const kinds = applicableKinds(one, reading);
    counts.questions += weight;
    if (kinds.size === 0) counts.none += weight;
    for (const kind of kinds) counts[kind] += weight;
  }
  return counts;
}

/** Pairs grow with the square of a query's predicates; no solver could choose among more. */
const candidateLimits = { rules: 100_000, coverings: 5_000_000 } as const;

const tooMany = ({ query, predicates }: QueryFeatures): FedwayError =>
  new FedwayError(
    "REQUEST_TOO_LARGE",
    `The queries up to ${JSON.stringify(query.id)}, which has ${predicates.length} predicates, give too many candidate rules.`,
    { next: `Leave out queries with very many predicates; ${candidateLimits.rules} rules are allowed.` },
  );

/**
 * Every rule that covers at least one of the queries, with the queries that it covers, in canonical order: by kind
 * (vertical, class, horizontal), then by IRIs in code unit order. A single-class or single-predicate rule covers the
 * queries that its kind applies to and that name the class or predicate.
 * @throws FedwayError `REQUEST_TOO_LARGE` beyond `candidateLimits`
 */
export function candidatesOf(features: readonly QueryFeatures[], reading: Interpretation): readonly Candidate[] {
  const found = new Map<string, { readonly rule: Rule; readonly covers: number[] }>();
  let coverings = 0;
  for (const [index, one] of features.entries()) {
    for (const rule of coveringRules(one, reading)) {
      if (found.size >= candidateLimits.rules || coverings >= candidateLimits.coverings) throw tooMany(one);
      coverings++;
      const key = ruleKey(rule);
      const candidate = found.get(key) ?? { rule, covers: [] };
      candidate.covers.push(index);
      found.set(key, candidate);
    }
  }
  return [...found.values()].toSorted((left, right) => compareRules(left.rule, right.rule));
}

function* coveringRules(features: QueryFeatures, reading: Interpretation): Generator<Rule> {
  const kinds = applicableKinds(features, reading);
  if (kinds.has("vertical")) {
    const groups = groupsOf(predicatesOf(features, reading), reading.verticalRule);
    for (const predicates of groups) yield { kind: "vertical", predicates };
  }
  if (kinds.has("class")) {
    for (const classes of groupsOf(features.classes, reading.classRule)) yield { kind: "class", classes };
  }
  // Class dominates horizontal: a query that joins classes is left to class rules.
  if (kinds.has("horizontal") && (reading.horizontalCoversJoins || !kinds.has("class"))) {
    for (const iri of features.classes) yield { kind: "horizontal", class: iri, buckets: reading.buckets };
  }
}

function* groupsOf(iris: readonly string[], size: "pair" | "single"): Generator<readonly string[]> {
  const sorted = iris.toSorted(compareText);
  for (const [at, first] of sorted.entries()) {
    if (size === "single") yield [first];
    else for (const second of sorted.slice(at + 1)) yield [first, second];
  }
}

/** The IRIs that a rule names, sorted. */
export function irisOfRule(rule: Rule): readonly string[] {
  if (rule.kind === "vertical") return rule.predicates;
  return rule.kind === "class" ? rule.classes : [rule.class];
}

/** Two rules have the same key when they are the same rule; IRIs hold no blanks. */
export const ruleKey = (rule: Rule): string => `${rule.kind} ${irisOfRule(rule).join(" ")}`;

/** Canonical order of rules: by kind (vertical, class, horizontal), then by IRIs in code unit order. */
function compareRules(left: Rule, right: Rule): number {
  const byKind = ruleKinds.indexOf(left.kind) - ruleKinds.indexOf(right.kind);
  if (byKind !== 0) return byKind;
  return compareText(ruleKey(left), ruleKey(right));
}
