import type { Condition, Element, GeneratedQuery, Group, Select, Triple } from "./query-generator-syntax.ts";

/** The query with the body of each SERVICE in its place, for data that lies in one graph. */
export function withoutServices(query: GeneratedQuery): GeneratedQuery {
  return mapQuery(query, (one) => [one.kind === "service" ? { kind: "group", body: one.body } : one]);
}

/** The same without braces around bodies of triples only, so that their patterns are neighbours. */
export function withoutBraces(query: GeneratedQuery, ofService: (target: number) => boolean): GeneratedQuery {
  return mapQuery(query, (one) => {
    if (one.kind !== "service" || (typeof one.target === "number" && !ofService(one.target))) return [one];
    if (one.body.every(({ kind }) => kind === "triples")) return one.body;
    return [{ kind: "group", body: one.body }];
  });
}

/**
 * The query with UNION instead of `p|q`, which is what it means (SPARQL 1.1 Query, section 18.2.2.4). Oxigraph 0.5.11 gives
 * one solution instead of two where both ends are bound when it evaluates the path and both predicates connect them.
 */
export function withoutAlternatives(query: GeneratedQuery): GeneratedQuery {
  return mapQuery(query, (one) => (one.kind === "triples" ? one.triples.map((triple) => spelledOut(triple)) : [one]));
}

function spelledOut(triple: Triple): Element {
  if (triple.path !== "alternative") return { kind: "triples", triples: [triple] };
  const branches = triple.predicate.split("|").map((predicate): Group => {
    const { subject, object } = triple;
    return [{ kind: "triples", triples: [{ subject, predicate, object }] }];
  });
  return { kind: "union", branches };
}

type Rewrite = (element: Element) => readonly Element[];

function mapQuery(query: GeneratedQuery, rewrite: Rewrite): GeneratedQuery {
  const { group, select } = createMapper(rewrite);
  if (query.form !== "select") return { ...query, where: group(query.where) };
  return { form: "select", select: select(query.select) };
}

/** Rewrites the elements of all groups, inner ones first. */
function createMapper(rewrite: Rewrite) {
  const group = (elements: Group): Group => elements.flatMap((one) => rewrite(element(one)));

  function element(one: Element): Element {
    switch (one.kind) {
      case "service":
      case "optional":
      case "minus":
      case "group":
        return { ...one, body: group(one.body) };
      case "union":
        return { ...one, branches: one.branches.map((branch) => group(branch)) };
      case "filter":
        return { ...one, condition: condition(one.condition) };
      case "select":
        return { ...one, select: select(one.select) };
      default:
        return one;
    }
  }

  function condition(one: Condition): Condition {
    switch (one.kind) {
      case "exists":
        return { ...one, body: group(one.body) };
      case "and":
      case "or":
        return { ...one, left: condition(one.left), right: condition(one.right) };
      case "not":
        return { ...one, inner: condition(one.inner) };
      default:
        return one;
    }
  }

  function select(one: Select): Select {
    return { ...one, where: group(one.where), having: one.having && condition(one.having) };
  }

  return { group, select };
}

/** A choice for the n-th SERVICE of a query: what it becomes over members with named graphs. */
export type GraphChoice = "named" | "default" | { readonly variable: string };

interface Graphed {
  /** As a federation is asked. */
  readonly query: GeneratedQuery;
  /** The same by definition (SPARQL 1.1 Query, section 18.6): `GRAPH ?g` is a UNION over the names of all graphs. */
  readonly spelledOut: GeneratedQuery;
}

/**
 * The query with other graphs than those that its SERVICE clauses name.
 * @param names numbers of the graphs that exist
 */
export function withGraphChoices(
  query: GeneratedQuery,
  names: readonly number[],
  choose: (index: number) => GraphChoice,
): Graphed {
  const made = (isSpelledOut: boolean): GeneratedQuery => {
    let index = 0;
    return mapQuery(query, (one) => {
      if (one.kind !== "service" || typeof one.target !== "number") return [one];
      const choice = choose(index++);
      if (choice === "named") return [one];
      if (choice === "default") return [{ kind: "group", body: one.body }];
      const { variable } = choice;
      if (!isSpelledOut) return [{ ...one, target: variable }];
      const branches = names.map(
        (name): Group => [
          { kind: "values", variables: [variable], rows: [[`<endpoint:${name}>`]] },
          { ...one, target: name },
        ],
      );
      return [{ kind: "union", branches }];
    });
  };
  return { query: made(false), spelledOut: made(true) };
}
