import { rdf } from "../../rdf/vocabularies.ts";
import { type Constraint, type PatternTerm } from "../../sparql/patterns.ts";
import {
  type Certainty,
  EndpointTypes,
  mayMeet,
  type PatternTypes,
  type TermType,
  type TypeFacts,
  typeOfConstant,
} from "./term-types.ts";

/** A constraint with what its terms may be, of a pattern at each endpoint that is asked. */
export interface Typed {
  readonly of: Constraint;
  readonly choices: readonly PatternTypes[];
}

/** Two constraints that no term satisfies both, or a pattern whose property has no such constant. */
export interface Contradiction {
  /** Variable that both constrain; undefined: a constant of the first. */
  readonly name: string | undefined;
  readonly one: Typed;
  readonly other: Typed;
}

/** Beyond these nothing is concluded. */
const mostConstraints = 100;
const mostComparisons = 200_000;

/** The types of a query's terms, by facts about the endpoints that its patterns are sent to. */
export class TypeChecker {
  readonly #certainty: Certainty;
  readonly #facts: TypeFacts;
  readonly #idsFor: (service: string | undefined) => readonly string[];
  readonly #endpoints = new Map<string, EndpointTypes>();
  readonly #known = new Map<Constraint, Typed>();
  #left = mostComparisons;

  constructor(certainty: Certainty, facts: TypeFacts, idsFor: (service: string | undefined) => readonly string[]) {
    this.#certainty = certainty;
    this.#facts = facts;
    this.#idsFor = idsFor;
  }

  /** Known types at the endpoints that a pattern is sent to. */
  endpoints({ scope }: Constraint): readonly EndpointTypes[] {
    return this.#idsFor(scope.service).map((id) => {
      const known = this.#endpoints.get(id) ?? new EndpointTypes(id, this.#certainty, this.#facts);
      this.#endpoints.set(id, known);
      return known;
    });
  }

  /** Contradictions in single constraints, else between two of them, else through those that leave fewer endpoints. */
  contradictions(constraints: readonly Constraint[]): readonly Contradiction[] {
    const all = constraints.slice(0, mostConstraints).flatMap((each) => this.#typed(each) ?? []);
    const right = all.filter((each) => this.#fitsConstants(each));
    const wrong = all.filter((each) => !right.includes(each)).map((one) => ({ name: undefined, one, other: one }));
    const pairs = right.flatMap((one, at) => right.slice(at + 1).flatMap((other) => this.#between(one, other) ?? []));
    const found = wrong.length + pairs.length > 0 ? [...wrong, ...pairs] : this.#propagated(right);
    return this.#left > 0 ? found : [];
  }

  /** True if constraints may hold together, and with all others. */
  fit(added: readonly Constraint[], others: readonly Constraint[]): boolean {
    const typed = added.flatMap((each) => this.#typed(each) ?? []);
    const all = [...typed, ...others.flatMap((each) => this.#typed(each) ?? [])];
    const isRight = (one: Typed, at: number): boolean =>
      this.#fitsConstants(one) && all.slice(at + 1).every((other) => !this.#between(one, other));
    return typed.length === added.length && typed.every(isRight) && this.#left > 0;
  }

  /** Undefined where nothing is known of a constraint, which says nothing then. */
  #typed(of: Constraint): Typed | undefined {
    const typed = this.#known.get(of) ?? { of, choices: this.#choicesOf(of) };
    this.#known.set(of, typed);
    return typed.choices.length === 0 ? undefined : typed;
  }

  #choicesOf(of: Constraint): readonly PatternTypes[] {
    // What engines say of unlike types by `!=` differs.
    if (of.kind === "comparison" && /^(?:!=|notin)$/.test(of.operator)) return [];
    if (of.kind === "comparison") return [{ subject: typeOfConstant(of.constant.term), object: {} }];
    const { term } = of.predicate;
    if (term.kind !== "iri") return [];
    return this.endpoints(of).flatMap((endpoint) => endpoint.of(term.iri, of.object.term) ?? []);
  }

  #fitsConstants({ of, choices }: Typed): boolean {
    if (of.kind === "comparison") return true;
    const [subject, object] = [typeOfConstant(of.subject.term), typeOfConstant(isType(of) ? any : of.object.term)];
    return choices.some((choice) => this.#mayMeet(choice.subject, subject) && this.#mayMeet(choice.object, object));
  }

  #between(one: Typed, other: Typed): Contradiction | undefined {
    const name = sharedNames(one, other).find(
      (each) => one.of.scope.joinWith(other.of.scope, each) && this.#supported(one, other, each).length === 0,
    );
    return name === undefined ? undefined : { name, one, other };
  }

  /** Those choices of a constraint that some choice of another one agrees with on a variable. */
  #supported({ of, choices }: Typed, other: Typed, name: string): readonly PatternTypes[] {
    const its = other.choices.flatMap((choice) => typesOf(other.of, choice, name));
    return choices.filter((choice) =>
      typesOf(of, choice, name).every((type) => its.some((each) => this.#mayMeet(type, each))),
    );
  }

  /** Arc consistency: endpoints whose triples join with nothing are no choice for other constraints. */
  #propagated(all: readonly Typed[]): readonly Contradiction[] {
    const left = all.map(({ of, choices }) => ({ of, choices }));
    for (let changed = true; changed && this.#left > 0; ) {
      changed = false;
      for (const [one, other, name] of left.flatMap((each) => joinsOf(each, left))) {
        const choices = this.#supported(one, other, name);
        if (choices.length === 0) return [{ name, one, other }];
        changed ||= choices.length < one.choices.length;
        one.choices = choices;
      }
    }
    return [];
  }

  #mayMeet(one: TermType, other: TermType): boolean {
    return this.#left-- <= 0 || mayMeet(one, other);
  }
}

const any: PatternTerm = { kind: "variable", name: "" };

export const isType = (of: Constraint): boolean =>
  of.kind === "pattern" && of.predicate.term.kind === "iri" && of.predicate.term.iri === rdf.type;

const joinsOf = <T extends Typed>(one: T, all: readonly T[]) =>
  all.flatMap((other) =>
    sharedNames(one, other)
      .filter((name) => one !== other && one.of.scope.joinWith(other.of.scope, name) === "required")
      .map((name) => [one, other, name] as const),
  );

function sharedNames(one: Typed, other: Typed): readonly string[] {
  const its = namesOf(other.of);
  return namesOf(one.of).filter((name) => its.includes(name));
}

function namesOf(of: Constraint): readonly string[] {
  if (of.kind === "comparison") return [of.name];
  return [of.subject, of.object].flatMap(({ term }) => (term.kind === "variable" ? [term.name] : []));
}

/** Types of a variable in a constraint, once for each place. */
export function typesOf(of: Constraint, { subject, object }: PatternTypes, name: string): readonly TermType[] {
  if (of.kind === "comparison") return [subject];
  const isNamed = (term: PatternTerm): boolean => term.kind === "variable" && term.name === name;
  return [...(isNamed(of.subject.term) ? [subject] : []), ...(isNamed(of.object.term) ? [object] : [])];
}

/** Rows of the whole query must match both. */
export const isWhole = ({ one, other }: Contradiction): boolean => one.of.scope.isRequired && other.of.scope.isRequired;
