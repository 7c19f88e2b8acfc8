import type * as RDF from "@rdfjs/types";
import { stringText } from "../../rdf/term-text.ts";
import { xsd } from "../../rdf/vocabularies.ts";

/** How the values of two sides are made one key, as SPARQL. */
export interface KeyAdapter {
  /** What is unlike, such as `scheme`, `node`, `case`. */
  readonly kind: string;
  /** An expression over the left value. */
  readonly left: (value: string) => string;
  /** The same for the right one; absent: the left expression gives the right value as it is. */
  readonly right?: (value: string) => string;
  /** It takes IRIs of one namespace for those of another, which may name other things with the same numbers. */
  readonly isGuess: boolean;
  /** Sampled left values that found a right one. */
  readonly matches: number;
}

/** Steps that make unlike keys alike; each is also a SPARQL expression. */
interface Steps {
  readonly trim: boolean;
  readonly lower: boolean;
  readonly unpad: boolean;
  readonly version: boolean;
}

interface Side {
  readonly terms: readonly RDF.Term[];
  /** Beginnings that its values may have before their keys. */
  readonly prefixes: readonly string[];
}

const versionSuffix = /(?:[.]\d{1,3}|[_-]v\d{1,3}|[@_-](?:en|de|fr|es|it))$/;
const versionPattern = "([.][0-9]{1,3}|[_-]v[0-9]{1,3}|[@_-](en|de|fr|es|it))$";

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

const allSteps: readonly Steps[] = Array.from({ length: 16 }, (_, bits) => ({
  trim: (bits & 1) > 0,
  lower: (bits & 2) > 0,
  unpad: (bits & 4) > 0,
  version: (bits & 8) > 0,
}));

/** Few steps are likelier than many; a beginning that only one side has is the likeliest difference of an IRI and a literal. */
function costOf({ steps, leftPrefix, rightPrefix, from, to }: Rule): number {
  const count = Object.values(steps).filter(Boolean).length;
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

function keyOf({ value }: RDF.Term, prefix: string, { trim, lower, unpad, version }: Steps): string | undefined {
  let text = trim ? value.trim() : value;
  if (!text.startsWith(prefix)) return undefined;
  text = text.slice(prefix.length);
  if (version) text = text.replace(versionSuffix, "");
  if (unpad) text = text.replaceAll(/(^|[^0-9])0+([0-9])/g, "$1$2");
  if (lower) text = text.toLowerCase();
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
  const left = (value: string): string => keyText(value, leftPrefix, steps);
  // Steps that lose something are done on both sides, unless right values are as they would be after them.
  const isTagged = to.terms.some((term) => term.termType === "Literal" && term.language !== "");
  // One language tag would leave out what is written in the others.
  const isLossless =
    !isTagged && to.terms.every((term) => keyOf(term, rightPrefix, steps) === term.value.slice(rightPrefix.length));
  const areIris = sample.termType === "NamedNode" && other.termType === "NamedNode";
  const isGuess = areIris && schemeless(leftPrefix) !== schemeless(rightPrefix);
  if (!isLossless) return { kind, isGuess, left, right: (value) => keyText(value, rightPrefix, steps), matches };
  return { kind, isGuess, left: (value) => asTerm(withPrefix(left(value), rightPrefix), other), matches };
}

/** What is unlike; undefined for a rule that changes nothing. */
function kindOf({ leftPrefix, rightPrefix, steps }: Rule, left: RDF.Term, right: RDF.Term): string | undefined {
  if (steps.version) return "version";
  if (steps.unpad) return "padding";
  if (steps.lower) return "case";
  if (steps.trim) return "blanks";
  if (left.termType !== right.termType) return "node";
  if (leftPrefix !== rightPrefix) return schemeless(leftPrefix) === schemeless(rightPrefix) ? "scheme" : "namespace";
  if (left.termType !== "Literal" || right.termType !== "Literal") return undefined;
  if (left.language !== right.language) return "language";
  return left.datatype.value === right.datatype.value ? undefined : "datatype";
}

const schemeless = (iri: string): string => iri.replace(/^https?:/, "");

function keyText(value: string, prefix: string, { trim, lower, unpad, version }: Steps): string {
  let text = `STR(${value})`;
  if (trim) text = String.raw`REPLACE(${text}, "^\\s+|\\s+$", "")`;
  if (prefix !== "") text = `STRAFTER(${text}, ${stringText(prefix)})`;
  if (version) text = `REPLACE(${text}, "${versionPattern}", "")`;
  if (unpad) text = `REPLACE(${text}, "(^|[^0-9])0+([0-9])", "$1$2")`;
  return lower ? `LCASE(${text})` : text;
}

const withPrefix = (text: string, prefix: string): string =>
  prefix === "" ? text : `CONCAT(${stringText(prefix)}, ${text})`;

function asTerm(text: string, like: RDF.Term): string {
  if (like.termType === "NamedNode") return `IRI(${text})`;
  if (like.termType !== "Literal") return text;
  if (like.language !== "") return `STRLANG(${text}, "${like.language}")`;
  return like.datatype.value === xsd.string ? text : `STRDT(${text}, <${like.datatype.value}>)`;
}
