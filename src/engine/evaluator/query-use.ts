import type * as Algebra from "./algebra.ts";
import type * as RDF from "../../rdf/term.ts";
import type { QueryNeeds } from "../sources/member.ts";
import { pathVariables } from "../sources/property-path.ts";
import type { Graphs, TriplePattern } from "../sources/triple-pattern.ts";

const internalVariables: ReadonlySet<string> = new Set(Object.values(pathVariables));
const TELLING_APART = new Set(["distinct", "reduced", "group"]);
const HANDING_ON = new Set(["variables", "template"]);

/** How a query uses the variables of its patterns; learned from its algebra before anything is asked. */
export class QueryUse implements QueryNeeds {
  readonly patterns: TriplePattern[] = [];
  /** How often a variable stands in a pattern or is looked at elsewhere. */
  #counts = new Map<string, number>();
  /** In how many places of patterns a variable stands. */
  readonly #places = new Map<string, number>();
  /** Variables that something else than patterns gives values. */
  readonly #given = new Set<string>();
  /** Variables that stand anywhere but in patterns. */
  readonly #mentioned = new Set<string>();
  /** The query compares solutions: whatever of them is mentioned beside the patterns. */
  #tellsApart = false;
  /** It counts distinct solutions, all of their variables. */
  #tellsAllApart = false;

  /** Takes the whole algebra in; once, before the patterns are replaced by leaves. */
  read(operation: Algebra.Operation): void {
    if (TELLING_APART.has(operation.type)) this.#tellsApart = true;
    if (isDistinctWildcard(operation)) this.#tellsAllApart = true;
    if (operation.type === "values") for (const { value } of operation.variables) this.#given.add(value);
    if (operation.type === "extend") this.#given.add(operation.variable.value);
    if (operation.type === "bgp") {
      for (const { subject, predicate, object, graphs } of operation.patterns) {
        this.#readPattern([subject, predicate, object], graphs);
      }
    } else if (operation.type === "union") {
      this.#readBranches(operation.input);
    } else if (operation.type === "path") {
      this.#readPattern([operation.subject, operation.object], operation.graphs);
    } else {
      for (const [key, value] of Object.entries(operation)) {
        if (key !== "metadata") this.#readPart(value, !HANDING_ON.has(key));
      }
    }
  }

  /** Variables that something outside of the algebra looks at: EXISTS substitutes them in the text of a clause. */
  mention(names: readonly string[]): void {
    for (const name of names) {
      this.#mentioned.add(name);
      this.#count(name);
    }
  }

  /** Notes what will be asked for. */
  add(patterns: readonly TriplePattern[]): void {
    this.patterns.push(...patterns);
  }

  identified(name: string, inside = 1): boolean {
    if (this.#tellsAllApart || (this.#tellsApart && this.#mentioned.has(name)) || internalVariables.has(name))
      return true;
    // Each of those that are made for a path stands in two places.
    const places = this.#counts.get(name) ?? (name.startsWith("fedway_") ? 2 : 1);
    return places > inside;
  }

  /** Something looks at the variable beside patterns in which it has that many places. */
  isNeeded(name: string, inside: number): boolean {
    return this.#tellsAllApart || this.#mentioned.has(name) || (this.#counts.get(name) ?? 0) > inside;
  }

  /** Nothing gives the variable a value but the patterns in which it has that many places. */
  isBoundIn(name: string, inside: number): boolean {
    return !this.#given.has(name) && (this.#places.get(name) ?? 0) <= inside;
  }

  /** No solution is of two branches: what counts is the one that uses a variable most often. */
  #readBranches(branches: readonly Algebra.Operation[]): void {
    const before = this.#counts;
    const most = new Map(before);
    for (const branch of branches) {
      this.#counts = new Map(before);
      this.read(branch);
      for (const [name, count] of this.#counts) most.set(name, Math.max(count, most.get(name) ?? 0));
    }
    this.#counts = most;
  }

  #readPattern(terms: readonly RDF.Term[], graphs: Graphs = []): void {
    for (const term of [...terms, ...graphs]) {
      if (term.termType !== "Variable") continue;
      this.#count(term.value);
      this.#places.set(term.value, (this.#places.get(term.value) ?? 0) + 1);
    }
  }

  /** @param isUse a variable's value is looked at there and not only handed on */
  #readPart(value: unknown, isUse: boolean): void {
    if (Array.isArray(value)) for (const one of value) this.#readPart(one, isUse);
    else if (isTerm(value)) {
      for (const name of variableNamesOf(value)) {
        this.#mentioned.add(name);
        if (isUse) this.#count(name);
      }
    } else if (isPart(value)) this.read(value);
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}

/** `COUNT(DISTINCT *)`. */
const isDistinctWildcard = (part: Algebra.Operation | Algebra.Expression): boolean =>
  "subType" in part && part.subType === "aggregate" && part.distinct && part.expression.subType === "wildcard";

const isPart = (value: unknown): value is Algebra.Operation => typeof value === "object" && value !== null;
const isTerm = (value: unknown): value is RDF.Term => isPart(value) && "termType" in value;

function variableNamesOf(term: RDF.Term): readonly string[] {
  if (term.termType === "Variable") return [term.value];
  if (term.termType !== "Quad") return [];
  return [term.subject, term.predicate, term.object].flatMap((part) => variableNamesOf(part));
}
