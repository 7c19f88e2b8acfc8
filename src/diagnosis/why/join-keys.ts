import type * as RDF from "@rdfjs/types";
import { type KeyExpressions, type KeyRule, type KeyStep, keyExpressions, keySteps } from "../../rdf/key-rule.ts";

/** How the values of two sides are made one key, as SPARQL. */
export interface KeyAdapter extends KeyExpressions {
  /** Kind of difference, such as `scheme`, `node`, `case`. */
  readonly kind: string;
  readonly rule: KeyRule;
  /** It takes IRIs of one namespace for those of another, which may name other things with the same numbers. */
  readonly isGuess: boolean;
  /** Sampled left values that found a right one. */
  readonly matches: number;
}

/** Steps that make unlike keys alike. */
type Steps = ReadonlySet<KeyStep>;

interface Side {
  readonly terms: readonly RDF.Term[];
  /** Beginnings that its values may have before their keys. */
  readonly prefixes: readonly string[];
}

const versionSuffix = /(?:[.]\d{1,3}|[_-]v\d{1,3}|[@_-](?:en|de|fr|es|it))$/;

/**
 * Ways to make the values of two sides alike, best first: those that join sampled values by the fewest steps, then those that
 * the samples' shapes make likely, as samples of large sides need not meet. Nothing is known of either until it is asked.
 */
export function keyAdapters(
  left: readonly RDF.Term[],
  right: readonly RDF.Term[],
  most: number,
): readonly KeyAdapter[] {
  if (left.length === 0 || right.length === 0) return [];
  const [from, to] = [sideOf(left), sideOf(right)];
  const found: { readonly adapter: KeyAdapter; readonly cost: number }[] = [];
  for (const steps of allSteps) {
    for (const leftPrefix of from.prefixes) {
      const keys = new Set(from.terms.flatMap((term) => keyOf(term, leftPrefix, steps) ?? []));
      for (const rightPrefix of to.prefixes) {
        const matches = to.terms.filter((term) => keys.has(keyOf(term, rightPrefix, steps) ?? "\n")).length;
        const rule = { from, to, leftPrefix, rightPrefix, steps };
        const adapter = adapterOf(rule, matches);
        if (adapter) found.push({ adapter, cost: costOf(rule) });
      }
    }
  }
  return found
    .toSorted(
      (a, b) =>
        Number(b.adapter.matches > 0) - Number(a.adapter.matches > 0) ||
        a.cost - b.cost ||
        b.adapter.matches - a.adapter.matches,
    )
    .slice(0, most)
    .map(({ adapter }) => adapter);
}

const allSteps: readonly Steps[] = Array.from(
  { length: 2 ** keySteps.length },
  (_, bits) => new Set(keySteps.filter((_step, at) => (bits & (1 << at)) > 0)),
);

/** Few steps are likelier than many; a beginning that only one side has is the likeliest difference of an IRI and a literal. */
function costOf({ steps, leftPrefix, rightPrefix, from, to }: Rule): number {
  const count = steps.size;
  if (leftPrefix === rightPrefix) return count + (leftPrefix === "" ? 0 : 0.6);
  // Prefixes that differ in case alone are a matter of case.
  const isCase = leftPrefix.toLowerCase() === rightPrefix.toLowerCase();
  return count + (isCase ? 1.5 : prefixCost(leftPrefix, from) + prefixCost(rightPrefix, to));
}

const prefixCost = (prefix: string, { prefixes }: Side): number => (prefix === prefixes[0] ? 0.1 : 0.5);

function sideOf(terms: readonly RDF.Term[]): Side {
  const values = terms.map(({ value }) => value.trim()).filter((value) => value !== "");
  const shared = commonStart(values);
  const atSeparator = /^.*[/#:_-]/su.exec(shared)?.[0] ?? "";
  const namespaces = terms.flatMap(({ termType, value }) =>
    termType === "NamedNode" ? [/^.*[/#]/su.exec(value)?.[0] ?? ""] : [],
  );
  return { terms, prefixes: [...new Set([atSeparator, mostFrequent(namespaces), ""])] };
}

function commonStart(values: readonly string[]): string {
  let [start = ""] = values;
  for (const value of values) while (!value.startsWith(start)) start = start.slice(0, -1);
  return start;
}

function mostFrequent(texts: readonly string[]): string {
  const counts = Map.groupBy(texts, (text) => text);
  return [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? "";
}

function keyOf({ value }: RDF.Term, prefix: string, steps: Steps): string | undefined {
  let text = steps.has("blanks") ? value.trim() : value;
  if (!text.startsWith(prefix)) return undefined;
  text = text.slice(prefix.length);
  if (steps.has("version")) text = text.replace(versionSuffix, "");
  if (steps.has("padding")) text = text.replaceAll(/(^|[^0-9])0+([0-9])/g, "$1$2");
  if (steps.has("case")) text = text.toLowerCase();
  return text === "" ? undefined : text;
}

interface Rule {
  readonly from: Side;
  readonly to: Side;
  readonly leftPrefix: string;
  readonly rightPrefix: string;
  readonly steps: Steps;
}

function adapterOf(rule: Rule, matches: number): KeyAdapter | undefined {
  const { from, to, leftPrefix, rightPrefix, steps } = rule;
  const [sample, other] = [from.terms[0], to.terms[0]];
  if (sample === undefined || other === undefined) return undefined;
  const kind = kindOf(rule, sample, other);
  if (kind === undefined) return undefined;
  // Steps that lose something are done on both sides, unless right values are as they would be after them.
  const isTagged = to.terms.some((term) => term.termType === "Literal" && term.language !== "");
  // One language tag would leave out what is written in the others.
  const isLossless =
    !isTagged && to.terms.every((term) => keyOf(term, rightPrefix, steps) === term.value.slice(rightPrefix.length));
  const areIris = sample.termType === "NamedNode" && other.termType === "NamedNode";
  const isGuess = areIris && schemeless(leftPrefix) !== schemeless(rightPrefix);
  const written = { prefix: leftPrefix, otherPrefix: rightPrefix, steps: [...steps] };
  const keyRule: KeyRule = { ...written, ...(isLossless && { form: formOf(other) }) };
  return { kind, isGuess, rule: keyRule, ...keyExpressions(keyRule), matches };
}

const formOf = (term: RDF.Term): string => (term.termType === "Literal" ? term.datatype.value : "iri");

/** Kind of difference; undefined for a rule that changes nothing. */
function kindOf({ leftPrefix, rightPrefix, steps }: Rule, left: RDF.Term, right: RDF.Term): string | undefined {
  const step = keySteps.findLast((each) => steps.has(each));
  if (step !== undefined) return step;
  if (left.termType !== right.termType) return "node";
  if (leftPrefix !== rightPrefix) return schemeless(leftPrefix) === schemeless(rightPrefix) ? "scheme" : "namespace";
  if (left.termType !== "Literal" || right.termType !== "Literal") return undefined;
  if (left.language !== right.language) return "language";
  return left.datatype.value === right.datatype.value ? undefined : "datatype";
}

const schemeless = (iri: string): string => iri.replace(/^https?:/, "");
