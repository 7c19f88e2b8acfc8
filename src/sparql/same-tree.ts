import type { ParsedQuery } from "./parse-query.ts";

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * True when two queries have the same syntax tree once member clauses are read as plain groups and dataset clauses
 * are left out: the proof, before anything is sent, that only wrappers were removed.
 */
export function sameWithoutWrappers(a: ParsedQuery, b: ParsedQuery, isMemberIri: (iri: string) => boolean): boolean {
  return shape(a, isMemberIri) === shape(b, isMemberIri);
}

function shape(query: ParsedQuery, isMemberIri: (iri: string) => boolean): string {
  return JSON.stringify(query.ast, (key, value: unknown) => {
    if (key === "from") return undefined;
    if (key === "where" && Array.isArray(value)) return whereShape(value, isMemberIri);
    return isTree(value) ? nodeShape(value, isMemberIri) : value;
  });
}

function isMemberClause(tree: Tree, isMemberIri: (iri: string) => boolean): boolean {
  const name = tree["name"];
  return tree["type"] === "service" && isTree(name) && isMemberIri(String(name["value"]));
}

/** `SELECT * { P }` without modifiers, which has the solutions of `{ P }`. */
function isPlainSubquery(tree: Tree): boolean {
  const { type, variables } = tree;
  if (type !== "query" || "prefixes" in tree || !Array.isArray(variables)) return false;
  const first: unknown = variables[0];
  const keys = Object.keys(tree).filter((key) => !["type", "queryType", "variables", "where"].includes(key));
  return keys.length === 0 && isTree(first) && first["termType"] === "Wildcard";
}

function nodeShape(tree: Tree, isMemberIri: (iri: string) => boolean): Tree {
  let node = tree;
  for (;;) {
    if (isMemberClause(node, isMemberIri)) node = { type: "group", patterns: node["patterns"] };
    if (isPlainSubquery(node)) node = { type: "group", patterns: node["where"] };
    const inner = node["patterns"];
    const only: unknown = node["type"] === "group" && Array.isArray(inner) && inner.length === 1 ? inner[0] : undefined;
    // `{ { P } }` is `{ P }`; a FILTER or BIND alone keeps its group.
    if (!isTree(only) || only["type"] === "filter" || only["type"] === "bind") return node;
    node = only;
  }
}

/** WHERE with one group in it is WHERE with what is in the group. */
function whereShape(where: readonly unknown[], isMemberIri: (iri: string) => boolean): readonly unknown[] {
  let patterns = where;
  while (patterns.length === 1 && isTree(patterns[0])) {
    const only = patterns[0];
    const opened = isMemberClause(only, isMemberIri) || only["type"] === "group";
    if (!opened || !Array.isArray(only["patterns"])) break;
    patterns = only["patterns"] as readonly unknown[];
  }
  return patterns;
}
