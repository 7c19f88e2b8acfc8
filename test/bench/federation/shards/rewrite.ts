import { Generator, Parser, type Pattern, type Query, type SelectQuery, type Triple } from "sparqljs";
import { withAbsoluteIris } from "../../../../src/sparql/query.ts";

/** A query as agents write it who ask every endpoint for everything. */
export interface Rewritten {
  /** Each triple pattern a UNION of SERVICE over all endpoints. */
  readonly "pattern by pattern": string;
  /** The whole pattern of the query, sent to each endpoint. */
  readonly "whole query": string;
  /** Its triple patterns, those in EXISTS too, each with absolute IRIs. */
  readonly patterns: readonly string[];
}

const parser = new Parser();
const generator = new Generator();

/** Rewrites a SELECT or ASK query for these endpoints. @throws Error for another form */
export function rewriteFor(text: string, endpoints: readonly string[]): Rewritten {
  const absolute = withAbsoluteIris(text);
  const parse = (): SelectQuery => parser.parse(absolute) as SelectQuery;
  const patterns: string[] = [];
  const everywhere = (body: readonly Pattern[]): Pattern => ({
    type: "union",
    patterns: endpoints.map((endpoint) => ({
      type: "service",
      name: { termType: "NamedNode", value: endpoint } as never,
      silent: false,
      patterns: [...body],
    })),
  });
  const byPattern = mapBasicPatterns(parse(), (triples) =>
    triples.map((triple) => {
      patterns.push(textOf(triple));
      return everywhere([{ type: "bgp", triples: [triple] }]);
    }),
  );
  const query = parse();
  const whole: SelectQuery = { ...query, where: [everywhere(query.where ?? [])] };
  return {
    "pattern by pattern": generator.stringify(byPattern as Query),
    "whole query": generator.stringify(whole),
    patterns,
  };
}

/** The body of a query that has only this pattern. */
function textOf(triple: Triple): string {
  const query: SelectQuery = {
    type: "query",
    queryType: "SELECT",
    variables: [{ termType: "Wildcard" } as never],
    where: [{ type: "bgp", triples: [triple] }],
    prefixes: {},
  };
  const text = generator.stringify(query);
  return text.slice(text.indexOf("{") + 1, text.lastIndexOf("}")).trim();
}

type Tree = unknown;

/** Replaces basic graph patterns wherever they stand: in groups, subselects, EXISTS. */
function mapBasicPatterns(node: Tree, replace: (triples: readonly Triple[]) => readonly Pattern[]): Tree {
  if (Array.isArray(node)) {
    return node.flatMap((each: Tree) => {
      const mapped = mapBasicPatterns(each, replace);
      return isBasic(each) && Array.isArray(mapped) ? mapped : [mapped];
    });
  }
  if (isBasic(node)) return replace(node.triples);
  if (typeof node !== "object" || node === null || "termType" in node) return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, mapBasicPatterns(value, replace)]));
}

const isBasic = (node: Tree): node is { readonly triples: readonly Triple[] } =>
  typeof node === "object" && node !== null && "type" in node && node.type === "bgp";
