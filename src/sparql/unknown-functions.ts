import { castTypes, xsd } from "../rdf/vocabularies.ts";
import { type ParsedQuery, parseQuery } from "./parse-query.ts";
import { isWord, tokenAt } from "./tokens.ts";

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** Built-in functions whose number of arguments the parser does not check. */
const arities: Readonly<Record<string, readonly [least: number, most: number]>> = {
  substr: [2, 3],
  regex: [2, 3],
  replace: [3, 4],
};

/** Whether a query has anything that `unknownCall` may have to look at. */
export function mayCallUnknown({ tokens }: ParsedQuery): boolean {
  return tokens.some(
    (token, at) =>
      (token.kind === "iri" || token.kind === "pname" || isWord(token, "SUBSTR", "REGEX", "REPLACE")) &&
      at + 1 < tokens.length &&
      tokenAt(tokens, at + 1).text === "(",
  );
}

/** What is wrong with the first call of a function that SPARQL 1.1 does not define, or with a wrong number of arguments. */
export function unknownCall(text: string): string | undefined {
  const pending: unknown[] = [parseQuery(text).ast];
  while (pending.length > 0) {
    const node = pending.pop();
    if (!isNode(node) || "termType" in node) continue;
    const message = problemOf(node);
    if (message !== undefined) return message;
    pending.push(...Object.values(node));
  }
  return undefined;
}

function problemOf(node: Node): string | undefined {
  const args: readonly unknown[] = Array.isArray(node["args"]) ? node["args"] : [];
  if (node["type"] === "operation") return countProblem(String(node["operator"]), args.length);
  const called = node["function"];
  if (node["type"] !== "functionCall" || !isNode(called)) return undefined;
  const name = String(called["value"]);
  const isCast = name.startsWith(xsd.namespace) && castTypes.has(name.slice(xsd.namespace.length));
  if (!isCast) return `The function <${name.slice(0, 200)}> is not known.`;
  return args.length === 1 ? undefined : `The function <${name}> has one argument, not ${args.length}.`;
}

function countProblem(operator: string, count: number): string | undefined {
  const [least, most] = arities[operator] ?? [0, Number.POSITIVE_INFINITY];
  if (count >= least && count <= most) return undefined;
  return `The function ${operator.toUpperCase()} has ${least} or ${most} arguments, not ${count}.`;
}
