import { rdf } from "../../rdf/vocabularies.ts";
import type { ParsedQuery } from "../../sparql/parse-query.ts";
import type { PatternTerm, PlacedPattern } from "../../sparql/query-patterns.ts";
import type { Token } from "../../sparql/tokens.ts";
import { type Offer, type QueryScope, tokensOf } from "./query-scope.ts";
import type { PropertyFacts, Vocabulary } from "./vocabulary.ts";

/** What the subject or object of a pattern may be, by the other patterns that name it; undefined: anything. */
interface Evidence {
  readonly classes: ReadonlySet<string> | undefined;
  /** It has properties, so it is no literal. */
  readonly isResource: boolean;
}

const keyOf = (term: PatternTerm): string =>
  term.kind === "variable" ? `?${term.name}` : term.kind === "iri" ? `<${term.iri}>` : "";

/**
 * Patterns whose property leads the other way by the descriptions: the subject's class is that of its objects, and the
 * object's that of its subjects. Offered as `^property`, which turns one pattern and leaves the rest as it stands.
 */
export function reversedPatterns(parsed: ParsedQuery, scope: QueryScope): readonly Offer[] {
  const { vocabulary, patterns } = scope;
  if (vocabulary === undefined) return [];
  return patterns.flatMap((pattern) => {
    const facts = factsOf(pattern, vocabulary);
    if (facts === undefined || pattern.object.kind === "literal" || pattern.inExists) return [];
    if (!isReversed(pattern, facts, { vocabulary, patterns })) return [];
    return reversal(parsed, pattern, scope);
  });
}

/** What is known of the property of a pattern. */
export function factsOf({ predicate }: PlacedPattern, { properties }: Vocabulary): PropertyFacts | undefined {
  return predicate.kind === "iri" && predicate.iri !== rdf.type ? properties.get(predicate.iri) : undefined;
}

type Known = Pick<QueryScope, "patterns"> & { readonly vocabulary: Vocabulary };

function isReversed(pattern: PlacedPattern, facts: PropertyFacts, known: Known): boolean {
  const subject = evidenceOf(pattern.subject, pattern, known);
  const object = evidenceOf(pattern.object, pattern, known);
  const backwards = meets(facts.subjects, object.classes) && meets(facts.objects, subject.classes);
  if (facts.objects.size === 0) {
    // A property of literals leads to nothing that has properties itself.
    return facts.datatypes.size > 0 && object.isResource && !subject.isResource && backwards;
  }
  const forwards = meets(facts.subjects, subject.classes) && meets(facts.objects, object.classes);
  const hasEvidence = (subject.classes ?? object.classes) !== undefined;
  return hasEvidence && facts.subjects.size > 0 && backwards && !forwards;
}

const meets = (known: ReadonlySet<string>, possible: ReadonlySet<string> | undefined): boolean =>
  possible === undefined || known.size === 0 || [...known].some((each) => possible.has(each));

/** Classes that all other patterns with the term allow. */
function evidenceOf(term: PatternTerm, but: PlacedPattern, { patterns, vocabulary }: Known): Evidence {
  const key = keyOf(term);
  const others = key === "" ? [] : patterns.filter((pattern) => pattern !== but);
  const asSubject = others.filter(({ subject }) => keyOf(subject) === key);
  const asObject = others.filter(({ object }) => keyOf(object) === key);
  const allowed = [
    ...asSubject.map((pattern) => classesOfSubject(pattern, vocabulary)),
    ...asObject.map((pattern) => factsOf(pattern, vocabulary)?.objects ?? nothing),
  ].filter(({ size }) => size > 0);
  const [first, ...more] = allowed;
  const common = [...(first ?? [])].filter((each) => more.every((classes) => classes.has(each)));
  // Instances may have several classes: evidence that contradicts itself is none.
  return { classes: common.length === 0 ? undefined : new Set(common), isResource: asSubject.length > 0 };
}

const nothing: ReadonlySet<string> = new Set();

/** Classes that the subject of a pattern may have; empty: any. */
export function classesOfSubject(pattern: PlacedPattern, vocabulary: Vocabulary): ReadonlySet<string> {
  const { predicate, object } = pattern;
  const isType = predicate.kind === "iri" && predicate.iri === rdf.type;
  if (isType) return object.kind === "iri" ? new Set([object.iri]) : nothing;
  return factsOf(pattern, vocabulary)?.subjects ?? nothing;
}

function reversal(parsed: ParsedQuery, { predicate, object }: PlacedPattern, { ranges }: QueryScope): readonly Offer[] {
  if (predicate.kind !== "iri") return [];
  const places = tokensOf(parsed, predicate.iri, ranges);
  const at = places.find((place) => isObject(parsed, parsed.tokens[place + 1], object)) ?? -1;
  const [name, behind] = [parsed.tokens[at], parsed.tokens[at + 1]];
  if (name === undefined || behind === undefined || name.kind === "word") return [];
  // Part of a path already: which way its steps lead is not for us to guess.
  if (parsed.tokens[at - 1]?.kind === "punct" && /^[/|^!]$/.test(parsed.tokens[at - 1]?.text ?? "")) return [];
  const [before, after] = [`${name.text} ${behind.text}`, `^${name.text} ${behind.text}`];
  return [
    {
      repair: { kind: "direction-reversed", before, after, applied: false },
      edits: [{ range: { from: at, to: at + 1 }, replacement: `^${name.text}` }],
      score: 0.8,
      why: "by its description the property leads the other way",
    },
  ];
}

function isObject(parsed: ParsedQuery, token: Token | undefined, object: PatternTerm): boolean {
  if (object.kind === "variable") return token?.kind === "var" && token.text.slice(1) === object.name;
  if (object.kind !== "iri" || token === undefined) return false;
  const at = parsed.tokens.indexOf(token);
  return tokensOf(parsed, object.iri, [{ from: at, to: at + 1 }]).length > 0;
}
