import type { Statement } from "../../errors/fedway-error.ts";
import { literalText } from "../../rdf/term-text.ts";
import type { Constraint, JoinedPattern, PatternTerm, UsedTerm } from "../../sparql/patterns.ts";
import { type Query } from "../../sparql/query.ts";
import { describedStatement, describedText } from "../evidence.ts";
import { type KeyGroup, unlikeKeys } from "../why/unlike-keys.ts";
import { meantBy } from "./meant-types.ts";
import type { Finder } from "../../registry/find.ts";
import type { Offer } from "./query-scope.ts";
import { type Contradiction, isType, isWhole, TypeChecker, type Typed, typesOf } from "./type-check.ts";
import type { TermType, TypeFacts } from "./term-types.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** Parts of a query that known facts contradict. */
export interface TypeFinding {
  /** False: the facts are not complete, or not fresh. */
  readonly certain: boolean;
  /** No row of the whole query can match; false: a part of it matches nothing. */
  readonly isEmpty: boolean;
  /** One sentence that says both sides. */
  readonly message: string;
  /** The message's claim, with what the descriptions say of both sides. */
  readonly statements: readonly Statement[];
  /** Tokens in its patterns: of their predicates, or objects. */
  readonly places: readonly number[];
}

/** A query, and the catalogue ids of the endpoints that a SERVICE, or what stands outside of all, is asked of. */
interface Checked {
  readonly parsed: Query;
  readonly constraints: readonly Constraint[];
  readonly idsFor: (service: string | undefined) => readonly string[];
}

type KnownFacts = TypeFacts & { readonly finder: Pick<Finder, "keys"> };

const mostFindings = 5;
/** Endpoints whose keys are compared. */
const mostKeyed = 3;

/**
 * The contradictions of a query with known facts about its endpoints, and suggestions. Uncertain ones are
 * reported only with a repair that fits the facts.
 */
export function typeFindings({ parsed, constraints, idsFor }: Checked, facts: KnownFacts) {
  const findings: TypeFinding[] = [];
  const offers: Offer[] = [];
  const offered = new Set<string>();
  const likely = new TypeChecker("likely", facts, idsFor);
  for (const certainty of ["certain", "likely"] as const) {
    if (findings.length > 0) break;
    const isCertain = certainty === "certain";
    const checker = isCertain ? new TypeChecker(certainty, facts, idsFor) : likely;
    for (const each of checker.contradictions(constraints).slice(0, mostFindings)) {
      const meant = meantBy(each, { parsed, constraints, checker: likely }, isCertain);
      // One mistake may contradict several patterns.
      const key = JSON.stringify(meant[0]?.edits);
      if (meant.length === 0 ? !isCertain : offered.has(key)) continue;
      offered.add(key);
      offers.push(...meant);
      findings.push(findingOf(each, isCertain, { parsed, facts, idsFor }));
    }
  }
  return { findings, offers };
}

type Shown = Pick<Checked, "parsed" | "idsFor"> & { readonly facts: KnownFacts };

function findingOf(found: Contradiction, certain: boolean, shownOf: Shown): TypeFinding {
  const { parsed, facts, idsFor } = shownOf;
  const { name, one, other } = found;
  const ids = [one, other].flatMap(({ of }) => (of.kind === "pattern" ? idsFor(of.scope.service) : []));
  const at = [...new Set(ids)].flatMap((id) => facts.models.get(id)?.described?.finishedAt ?? []);
  const by = `${describedText(at)}${certain ? "" : ", which may lack some"}`;
  const shown = name?.startsWith("_:") ? "the node between" : `?${name}`;
  const what =
    name === undefined
      ? constantText(one, parsed)
      : `${shown} is both ${sideText(one, name, parsed)} and ${sideText(other, name, parsed)}`;
  const isEmpty = isWhole(found);
  const sides = [one.of, other.of].flatMap((of) =>
    of.kind === "pattern" ? [of.predicate.range ?? of.object.range] : [],
  );
  const claim = `${what}: ${isEmpty ? "no row matches" : "this part matches nothing"}`;
  return {
    certain,
    isEmpty,
    statements: [
      describedStatement(
        claim,
        one === other ? readOf(one, shownOf) : [one, other].flatMap((each) => readOf(each, shownOf)),
      ),
    ],
    places: sides.flatMap((range) => range?.from ?? []),
    message: `${claim}, ${by}.${keysText(found, shownOf)}`,
  };
}

/** Descriptions of its endpoints on a pattern's property, or class. */
function readOf({ of }: Typed, { idsFor, facts }: Shown) {
  if (of.kind === "comparison" || of.predicate.term.kind !== "iri") return [];
  const term: UsedTerm =
    isType(of) && of.object.term.kind === "iri"
      ? { kind: "class", iri: of.object.term.iri }
      : { kind: "property", iri: of.predicate.term.iri };
  return idsFor(of.scope.service).flatMap((endpoint) => {
    const { described } = facts.models.get(endpoint) ?? {};
    if (described === undefined) return [];
    const { classes, properties } = vocabularyOf(described);
    const count = term.kind === "class" ? classes.get(term.iri)?.entities : properties.get(term.iri)?.triples;
    return count === undefined ? [] : [{ endpoint, time: described.finishedAt, term, count }];
  });
}

/** How known values make the keys of one side those of the other; empty where they do not. */
function keysText({ name, one, other }: Contradiction, { facts: { finder }, idsFor }: Shown): string {
  const [mine, its] = [one.of, other.of];
  if (name === undefined || mine.kind !== "pattern" || its.kind !== "pattern") return "";
  const there = idsFor(its.scope.service);
  const keys = idsFor(mine.scope.service).slice(0, mostKeyed);
  const join = keys
    .flatMap((id) => unlikeKeys(finder, id))
    .find(
      (each) => there.includes(each.there.endpoint) && isKey(each.here, mine, name) && isKey(each.there, its, name),
    );
  if (join === undefined) return "";
  const { kind, left, right } = join;
  const how = right
    ? `compare ${left("the first")} with ${right("the second")}`
    : `bind ${left(`?${name}`)} for the second`;
  return ` Known values join if written alike (${kind}): ${how}.`;
}

/** True if a variable of a pattern has these keys: values of its property, or IRIs of a class. */
function isKey(group: KeyGroup, { predicate, object }: JoinedPattern, name: string): boolean {
  const isValue = object.term.kind === "variable" && object.term.name === name;
  return group.property === (isValue && predicate.term.kind === "iri" ? predicate.term.iri : undefined);
}

function constantText({ of, choices }: Typed, parsed: Query): string {
  if (of.kind === "comparison") return "";
  const kinds = kindText(
    choices.map(({ object }) => object),
    parsed,
  );
  return `${termText(of.predicate.term, parsed)} has no value ${termText(of.object.term, parsed)}${kinds}`;
}

function sideText({ of, choices }: Typed, name: string, parsed: Query): string {
  if (of.kind === "comparison") return termText(of.constant.term, parsed);
  if (isType(of)) return `an instance of ${termText(of.object.term, parsed)}`;
  const isSubject = of.subject.term.kind === "variable" && of.subject.term.name === name;
  const kinds = kindText(
    choices.flatMap((choice) => typesOf(of, choice, name)),
    parsed,
  );
  return `a ${isSubject ? "subject" : "value"} of ${termText(of.predicate.term, parsed)}${kinds}`;
}

function termText(term: PatternTerm, { prologue }: Query): string {
  if (term.kind === "variable") return `?${term.name}`;
  return term.kind === "iri" ? prologue.written(term.iri) : literalText(term.literal);
}

const mostKinds = 3;

/** " (xsd:integer)", " (<http://example.org/city/...>)". */
function kindText(types: readonly TermType[], { prologue }: Query): string {
  const kinds = types.flatMap(({ literals = [], iris = [], classes }) => [
    ...[...literals, ...(classes ?? [])].map((kind) => (kind.includes(":") ? prologue.written(kind) : kind)),
    ...(classes ? [] : iris.map((start) => `<${start}...>`)),
  ]);
  const each = [...new Set(kinds)];
  return each.length === 0 || each.length > mostKinds ? "" : ` (${each.join(", ")})`;
}
