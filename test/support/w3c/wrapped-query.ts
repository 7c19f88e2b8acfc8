import { DataFactory } from "n3";
import { parseQuery } from "../../../src/sparql/parse-query.ts";
import sparqljs, { type Expression, type Pattern, type Query, type Triple } from "sparqljs";

/** Variables that stand for blank nodes of a query; no answer has them. */
export const blankVariables = "blank__";

/** What only the endpoint beside has. */
export const besideTriple = "<urn:w3c:beside> <urn:w3c:beside> <urn:w3c:beside> .\n";

/**
 * A query in which each triple pattern, path and GRAPH is a SERVICE clause of its own, at these endpoints in turn: so all
 * that joins and filters them is evaluated by the federation engine. Its dataset is left to the endpoints. A triple that
 * `beside` alone has is asked for in front, because a query for one endpoint only would be sent there whole.
 */
export function wrappedQuery(
  text: string,
  base: string,
  places: { endpoints: readonly string[]; beside: string },
): string {
  const query = parseQuery(`BASE <${base}>
${text}`).ast;
  const node = DataFactory.namedNode("urn:w3c:beside");
  const beside = service(places.beside, { type: "bgp", triples: [{ subject: node, predicate: node, object: node }] });
  const where = [beside, ...createWrapper(places.endpoints)(query.where ?? [])];
  // Full IRIs, because sparqljs prints some local names without their backslashes.
  const wrapped: Query = { ...query, where, prefixes: {} };
  if ("from" in wrapped) delete wrapped.from;
  return `BASE <${base}>\n${new sparqljs.Generator({}).stringify(wrapped)}`;
}

const service = (url: string, pattern: Pattern): Pattern => ({
  type: "service",
  name: DataFactory.namedNode(url),
  silent: false,
  patterns: [pattern],
});

/** Wraps the patterns of groups at any depth. */
function createWrapper(endpoints: readonly string[]): (patterns: readonly Pattern[]) => Pattern[] {
  let turn = 0;
  const atNext = (pattern: Pattern): Pattern => service(endpoints[turn++ % endpoints.length] ?? "", pattern);
  const wrapAll = (patterns: readonly Pattern[]): Pattern[] => patterns.flatMap((one) => wrap(one));
  const group = (pattern: Pattern): Pattern => ({ type: "group", patterns: wrap(pattern) });

  function wrap(one: Pattern): Pattern[] {
    switch (one.type) {
      case "bgp":
        return one.triples.map((triple) => atNext({ type: "bgp", triples: [withVariables(triple)] }));
      case "graph":
        return [atNext(one)];
      case "filter":
      case "bind":
        return [{ ...one, expression: expression(one.expression) }];
      case "union":
        return [{ ...one, patterns: one.patterns.map(group) }];
      case "group":
      case "optional":
      case "minus":
        return [{ ...one, patterns: wrapAll(one.patterns) }];
      case "query":
        return [{ type: "group", patterns: [{ ...one, where: wrapAll(one.where ?? []), prefixes: {} }] }];
      default:
        return [one];
    }
  }

  /** EXISTS at any depth of an expression. */
  function expression(one: Expression): Expression {
    if (!("type" in one) || one.type !== "operation") return one;
    return { ...one, args: one.args.map((arg) => (isGroup(arg) ? group(arg) : expression(arg))) };
  }

  return wrapAll;
}

const isGroup = (arg: Expression | Pattern): arg is Pattern =>
  "type" in arg && (arg.type === "group" || arg.type === "bgp" || arg.type === "graph");

function withVariables(triple: Triple): Triple {
  const variable = <T extends { readonly termType?: string; readonly value?: string }>(term: T) =>
    term.termType === "BlankNode" ? DataFactory.variable(`${blankVariables}${term.value}`) : term;
  return Object.assign({}, triple, { subject: variable(triple.subject), object: variable(triple.object) });
}
