import { itemAt } from "../../values.ts";
import type { Query } from "../parse/query.ts";
import { QueryTree } from "../parse/query-tree.ts";
import type { Pattern, Term, Triple } from "sparqljs";
import type { Element, Group, SelectOutline, ServiceElement, TokenRange } from "../parse/outline.ts";
import { elementsWithin } from "./scope.ts";
import { certainVariables } from "./certain-variables.ts";

/** Surroundings of a clause, outermost first; `group` is a plain group. */
type Context = "group" | "optional" | "union" | "minus" | "exists" | "subquery" | "graph" | "service";

/** A value that a SERVICE variable can have; a literal is no endpoint and is refused later. */
interface KnownValue {
  readonly iri?: string;
  readonly text: string;
}

/** A group around a clause; the clause stands in the element at `at`. */
interface Enclosing {
  readonly elements: readonly Element[];
  readonly patterns: readonly Pattern[];
  readonly at: number;
}

/** Target of a SERVICE. */
type ServiceTarget =
  | { readonly kind: "iri"; readonly iri: string }
  /**
   * `values`: everything the variable can be at this place, undefined when that is not known. `isBound`: what stands before the
   * clause in its group, or before an OPTIONAL that it stands in, binds it in each solution.
   */
  | {
      readonly kind: "variable";
      readonly name: string;
      readonly values: readonly KnownValue[] | undefined;
      readonly isBound: boolean;
    };

/** One SERVICE clause (SPARQL 1.1 Federated Query, section 2). */
export interface ServiceClause {
  readonly target: ServiceTarget;
  readonly silent: boolean;
  /** 0 outside of every other SERVICE. */
  readonly depth: number;
  readonly place: readonly Context[];
  /** A GRAPH stands between the clause and the next SERVICE, or the query, around it. */
  readonly inGraph: "none" | "constant" | "variable";
  /** The clause is all there is in the WHERE of a query or subquery. */
  readonly fillsWhere: boolean;
  /** But for FILTERs, the clause is all there is in an OPTIONAL. */
  readonly fillsOptional: boolean;
  /** The SERVICE clause directly around this one. */
  readonly parent: ServiceClause | undefined;
  readonly element: ServiceElement;
  /** Its group as the WHERE of a query of its own. */
  readonly body: QueryTree;
  /** Where it begins in the text. */
  readonly where: { readonly line: number; readonly column: number };
}

/** A pattern outside of every SERVICE that needs data. */
interface OutsidePattern extends TokenRange {
  /** None of GRAPH. */
  readonly triples: readonly Triple[];
}

interface Surroundings {
  readonly place: readonly Context[];
  readonly inGraph: ServiceClause["inGraph"];
  readonly parent: ServiceClause | undefined;
  readonly besideServiceInGraph: boolean;
  readonly enclosing: readonly Enclosing[];
  readonly isWhere: boolean;
  readonly isOptional: boolean;
}

/** True when an element is, or has inside, a SERVICE for which `counts` holds. */
export function hasService(element: Element, counts: (service: ServiceElement) => boolean): boolean {
  return (element.kind === "service" && counts(element)) || haveService(element.groups, counts);
}

/** True when a SERVICE for which `counts` holds stands anywhere in the groups. */
export const haveService = (groups: readonly Group[], counts: (service: ServiceElement) => boolean): boolean =>
  elementsWithin(groups).some((element) => element.kind === "service" && counts(element));

class Analysis {
  readonly services: ServiceClause[] = [];
  readonly outside: OutsidePattern[] = [];
  readonly serviceGraphs: Element[] = [];
  private readonly query: Query;

  constructor(query: Query) {
    this.query = query;
  }

  select(select: SelectOutline, around: Surroundings): void {
    const place = [...around.place, "exists"] as const;
    const bare = { ...around, isOptional: false, isWhere: false };
    for (const group of select.exists) this.group(group, { ...bare, place, enclosing: [] });
    if (!select.where) return;
    const trailing = select.values ? [select.values] : [];
    this.group(select.where, {
      ...bare,
      isWhere: true,
      enclosing: [{ elements: trailing, patterns: [], at: trailing.length }],
    });
  }

  private group(group: Group, around: Surroundings): void {
    if (group.select) {
      this.select(group.select, { ...around, place: [...around.place, "subquery"] });
      return;
    }
    const alone = group.elements.filter((element) => element.kind !== "filter").length === 1;
    for (const [at, element] of group.elements.entries()) {
      this.element(element, {
        ...around,
        isWhere: around.isWhere && group.elements.length === 1,
        isOptional: around.isOptional && alone,
        enclosing: [...around.enclosing, { ...group, at }],
      });
    }
  }

  private element(element: Element, around: Surroundings): void {
    if (element.kind === "service") return this.service(element, around);
    if (element.kind === "graph") return this.graph(element, around);
    if (element.kind === "triples") return this.needsData(element, around);
    const place = contextOf(element);
    const isOptional = place === "optional" || (place === "group" && around.isOptional);
    const inner = { ...around, isWhere: false, isOptional, place: place ? [...around.place, place] : around.place };
    for (const group of element.groups) this.group(group, inner);
  }

  private needsData(element: Element, around: Surroundings): void {
    if (around.parent) return;
    const triples = element.kind === "triples" ? element.triples : [];
    this.outside.push({ from: element.from, to: element.to, triples });
  }

  private graph(element: Element & { kind: "graph" }, around: Surroundings): void {
    const place = [...around.place, "graph"] as const;
    if (!hasService(element, () => true)) {
      this.needsData(element, around);
      return;
    }
    const name = itemAt(this.query.tokens, element.name);
    const inGraph = name.kind === "var" ? "variable" : "constant";
    if (!around.parent && !around.besideServiceInGraph) this.serviceGraphs.push(element);
    this.group(element.group, {
      ...around,
      place,
      inGraph,
      isWhere: false,
      isOptional: false,
      besideServiceInGraph: true,
    });
  }

  private service(element: ServiceElement, around: Surroundings): void {
    const { query } = this;
    let body: QueryTree | undefined;
    const clause: ServiceClause = {
      target: this.target(element, around),
      silent: element.silent,
      depth: around.parent ? around.parent.depth + 1 : 0,
      place: around.place,
      inGraph: around.inGraph,
      fillsWhere: around.isWhere,
      fillsOptional: around.isOptional,
      parent: around.parent,
      element,
      get body() {
        return (body ??= QueryTree.ofGroup(element.group));
      },
      get where() {
        return query.whereIs(element);
      },
    };
    this.services.push(clause);
    const place = [...around.place, "service"] as const;
    this.group(element.group, { ...around, place, parent: clause, inGraph: "none", enclosing: [], isWhere: false });
  }

  private target(element: ServiceElement, around: Surroundings): ServiceTarget {
    const token = itemAt(this.query.tokens, element.name);
    if (token.kind !== "var") return { kind: "iri", iri: this.query.prologue.iriOf(token) };
    const name = token.text.slice(1);
    const values = knownValues(name, around.enclosing);
    const isBound = values === undefined && isBoundBefore(name, around.enclosing);
    return { kind: "variable", name, values, isBound };
  }
}

function contextOf(element: Element): Context | undefined {
  switch (element.kind) {
    case "optional":
    case "minus":
      return element.kind;
    case "filter":
    case "bind":
      return "exists";
    case "union":
      if (element.groups.length > 1) return "union";
      return element.groups[0]?.select ? undefined : "group";
    default:
      return undefined;
  }
}

/** Finds every SERVICE clause of a query, wherever it stands, and every pattern outside of them. */
export function analysisOf(query: Query): Pick<Analysis, "services" | "outside" | "serviceGraphs"> {
  const analysis = new Analysis(query);
  analysis.select(query.outline, {
    place: [],
    inGraph: "none",
    parent: undefined,
    besideServiceInGraph: false,
    enclosing: [],
    isWhere: true,
    isOptional: false,
  });
  return analysis;
}

/**
 * All values that a variable can have where a clause stands, from VALUES and `BIND(<iri> AS ?var)` of the groups
 * around it. A join may be restricted by what is joined later; the right side of OPTIONAL and MINUS only by what
 * stands before it, and nothing outside of that group restricts it any more. Undefined: not known.
 */
function knownValues(variable: string, enclosing: readonly Enclosing[]): readonly KnownValue[] | undefined {
  for (const { elements, patterns, at } of enclosing.toReversed()) {
    const through = joinedHow(elements[at]);
    for (const [index, element] of elements.entries()) {
      if (index === at || (through === "left" && index > at)) continue;
      const values = assignedTerms(variable, element, patterns[index]);
      if (values) return [...new Map(values.map(knownValue).map((value) => [value.text, value])).values()];
    }
    if (through !== "join") return undefined;
  }
  return undefined;
}

/** How an element is combined with the others of its group; undefined: the VALUES behind a query have none. */
function joinedHow(element: Element | undefined): "join" | "left" | "filter" {
  if (element?.kind === "optional" || element?.kind === "minus") return "left";
  return element?.kind === "filter" || element?.kind === "bind" ? "filter" : "join";
}

/** The terms that VALUES or BIND assign to a variable; an expression is not evaluated here. */
function assignedTerms(variable: string, element: Element, pattern: Pattern | undefined): readonly Term[] | undefined {
  if (element.kind === "values") {
    const cells = element.rows.map((row) => row[`?${variable}`]);
    return element.variables.includes(variable) && cells.every((cell) => cell !== undefined) ? cells : undefined;
  }
  if (pattern?.type !== "bind" || pattern.variable.value !== variable) return undefined;
  return "termType" in pattern.expression ? [pattern.expression] : undefined;
}

const knownValue = (term: Term): KnownValue =>
  term.termType === "NamedNode" ? { iri: term.value, text: `<${term.value}>` } : { text: term.value };

/**
 * True if the elements before a clause in its group, or before an OPTIONAL around it, bind a variable in each solution.
 * A solution that the clause is joined with has a value for it then.
 */
function isBoundBefore(variable: string, enclosing: readonly Enclosing[]): boolean {
  const [own, outer] = enclosing.toReversed();
  const isOptional = outer?.elements[outer.at]?.kind === "optional";
  const before = [own, isOptional ? outer : undefined].flatMap((group) => group?.patterns.slice(0, group.at) ?? []);
  return certainVariables(before).has(variable);
}
