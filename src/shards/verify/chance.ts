import { parseQuery } from "../../sparql/parse-query.ts";

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** Functions whose value is not a matter of the data. */
const chanceful = new Set(["rand", "now", "uuid", "struuid", "bnode"]);
const orderly = new Set(["sample", "group_concat"]);

function isChance(node: Node): boolean {
  if (typeof node["limit"] === "number" || typeof node["offset"] === "number" || node["reduced"] === true) return true;
  if (node["type"] === "operation") return chanceful.has(String(node["operator"]).toLowerCase());
  return node["type"] === "aggregate" && orderly.has(String(node["aggregation"]).toLowerCase());
}

function hasChance(part: unknown): boolean {
  const pending: unknown[] = [part];
  while (pending.length > 0) {
    const node = pending.pop();
    if (!isNode(node) || "termType" in node) continue;
    if (isChance(node)) return true;
    pending.push(...Object.values(node));
  }
  return false;
}

/**
 * What equal data may give this query differently: nothing; which rows, but not how many; or how many, too. Queries take
 * some rows of an order that may have ties (LIMIT, OFFSET), depend on the order inside groups (SAMPLE, GROUP_CONCAT), on
 * chance and time, or leave repetitions to the store (REDUCED).
 * @throws FedwayError `QUERY_SYNTAX`
 */
export function chanceIn(text: string): "none" | "rows" | "count" {
  const ast: unknown = parseQuery(text).ast;
  if (!isNode(ast)) return "none";
  const { variables, limit, offset, ...rest } = ast;
  if (hasChance(rest)) return "count";
  const takesSome = limit !== undefined || offset !== undefined;
  // A graph is a set, and so are distinct rows: other values may be fewer.
  if (takesSome && ast["queryType"] !== "SELECT") return "count";
  if (hasChance(variables)) return ast["distinct"] === true ? "count" : "rows";
  return takesSome ? "rows" : "none";
}
