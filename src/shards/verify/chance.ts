import { parseQuery } from "../../sparql/parse-query.ts";

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** Functions whose value is not a matter of the data. */
const chanceful = new Set(["rand", "now", "uuid", "struuid", "bnode"]);
const orderly = new Set(["sample", "group_concat"]);

function hasChance(node: Node): boolean {
  if (typeof node["limit"] === "number" || typeof node["offset"] === "number") return true;
  if (node["type"] === "operation") return chanceful.has(String(node["operator"]).toLowerCase());
  return node["type"] === "aggregate" && orderly.has(String(node["aggregation"]).toLowerCase());
}

/**
 * Equal data may give this query different answers: it takes some rows of an order that may have ties (LIMIT, OFFSET),
 * depends on the order inside groups (SAMPLE, GROUP_CONCAT), or on chance and time.
 * @throws FedwayError `QUERY_SYNTAX`
 */
export function leavesToChance(text: string): boolean {
  const pending: unknown[] = [parseQuery(text).ast];
  while (pending.length > 0) {
    const node = pending.pop();
    if (!isNode(node) || "termType" in node) continue;
    if (hasChance(node)) return true;
    pending.push(...Object.values(node));
  }
  return false;
}
