import { factsAt, type Draw, type Fact, type GeneratedData, type Kind } from "./query-generator-data.ts";

/**
 * A variable of a query under construction. Its witness is a term that one solution is known to bind it to: patterns
 * are taken from the data around witnesses, so that joins are not empty.
 */
export interface Known {
  readonly name: string;
  readonly kind: Kind;
  readonly witness: string | undefined;
  /** Bound in every solution. */
  readonly certain: boolean;
}

/** Where a group stands: `variables` are in scope, `anchors` are names from outside that it may use again. */
export interface Scope {
  readonly variables: Map<string, Known>;
  readonly anchors: ReadonlyMap<string, Known>;
}

/** Where elements stand: inside the SERVICE of one endpoint, or outside of all. */
export interface Place {
  readonly endpoint: number | undefined;
  readonly depth: number;
}

/** What all steps of one case share. */
export interface Build {
  readonly draw: Draw;
  readonly data: GeneratedData;
  /** A variable name that no other part of the query has. */
  fresh(): string;
}

export function createBuild(draw: Draw, data: GeneratedData): Build {
  let count = 0;
  return {
    draw,
    data,
    fresh() {
      count++;
      return `?v${count}`;
    },
  };
}

/** A scope for a group inside another; it may join on everything that is known outside. */
export function innerScope(outer: Scope): Scope {
  return { variables: new Map(), anchors: new Map([...outer.anchors, ...outer.variables]) };
}

export function emptyScope(): Scope {
  return { variables: new Map(), anchors: new Map() };
}

/** Adds the variables of a joined group; `certain: false` for OPTIONAL. */
export function joinScope(outer: Scope, inner: Scope, certain = true): void {
  for (const variable of inner.variables.values()) {
    const known = outer.variables.get(variable.name);
    outer.variables.set(variable.name, {
      name: variable.name,
      // A blank node that two clauses bind has two labels, and none to tell it by.
      kind: known && (known.kind !== variable.kind || known.kind === "blank") ? "any" : variable.kind,
      witness: known?.witness ?? variable.witness,
      certain: (certain && variable.certain) || known?.certain === true,
    });
  }
}

/** Variables that a pattern may join on. Never blank ones (see the data), nor those whose kind varies. */
export function joinable(scope: Scope): readonly Known[] {
  const all = new Map([...scope.anchors, ...scope.variables]);
  return [...all.values()].filter((known) => isJoinKind(known.kind) && known.witness !== undefined);
}

export function isJoinKind(kind: Kind): boolean {
  return kind !== "blank" && kind !== "any";
}

/** Terms of this kind may stand in a query. */
export function isWritten(kind: Kind): boolean {
  return !["blank", "node", "spelled"].includes(kind);
}

/** Equal values can be told apart: DISTINCT, GROUP BY and COUNT(DISTINCT) are generated over these only. */
export function hasIdentity(known: Known): boolean {
  return known.kind !== "any";
}

/** A term of the data with this kind, for constants that may or may not match. */
export function someTerm(build: Build, kind: Kind): string | undefined {
  const terms = build.data.facts.filter((fact) => fact.kind === kind).map((fact) => fact.object);
  return terms.length > 0 ? build.draw.pick(terms) : undefined;
}

/** Facts at an endpoint that touch the witness of a variable. */
export function factsAround(build: Build, endpoint: number, known: Known): readonly Fact[] {
  return factsAt(build.data, endpoint).filter(
    (fact) => fact.subject === known.witness || (fact.object === known.witness && fact.kind === known.kind),
  );
}

/** An endpoint, of `among` when given, that can be joined with the scope, if there is one. */
export function joinableEndpoint(build: Build, scope: Scope): number {
  const anchors = joinable(scope);
  const endpoints = Array.from({ length: build.data.endpoints }, (_, index) => index);
  const fitting = endpoints.filter((e) => anchors.some((known) => factsAround(build, e, known).length > 0));
  return build.draw.pick(fitting.length > 0 ? fitting : endpoints);
}
