import type { FedwayError } from "../errors/fedway-error.ts";
import type { Group, QueryOutline, SelectOutline } from "./outline.ts";
import { groupsOf, groupsOfSelect } from "./scope.ts";
import { bracketed, isWord, syntaxError, type Token } from "./tokens.ts";

interface Checked {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly outline: QueryOutline;
}

const aggregates = new Set(["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"]);

/**
 * A query with GROUP BY or an aggregate may project plain variables only if they are grouped, and not `*`
 * (SPARQL 1.1 Query, section 19.8 note 12). Undefined: all is well.
 */
export function illegalProjection(query: Checked): FedwayError | undefined {
  const pending: SelectOutline[] = [query.outline];
  for (let select = pending.pop(); select; select = pending.pop()) {
    const illegal = check(query, select);
    if (illegal) return illegal;
    const groups: Group[] = [...groupsOfSelect(select)];
    for (let group = groups.pop(); group; group = groups.pop()) {
      if (group.select) pending.push(group.select);
      groups.push(...group.elements.flatMap((element) => groupsOf(element)));
    }
  }
  return undefined;
}

function check(query: Checked, select: SelectOutline): FedwayError | undefined {
  const { tokens, text } = query;
  if (!isWord(tokens[select.head.from], "SELECT")) return undefined;
  const grouped = groupKeys(tokens, select);
  if (!grouped && !hasAggregate(tokens, select)) return undefined;
  for (const { token, depth } of bracketed(tokens, select.head)) {
    if (depth > 0) continue;
    if (token.text === "*") {
      return syntaxError(text, token.start, {
        message: "SELECT * cannot be combined with GROUP BY or aggregates.",
        next: "Name the columns.",
      });
    }
    if (token.kind !== "var" || grouped?.has(token.text.slice(1))) continue;
    return syntaxError(text, token.start, {
      message: `Projection of ungrouped variable (${token.text.slice(0, 60)}).`,
      next: "Add the variable to GROUP BY or put it into an aggregate such as SAMPLE.",
    });
  }
  return undefined;
}

/** Variables of GROUP BY conditions that can be projected; undefined when there is no GROUP BY. */
function groupKeys(tokens: readonly Token[], { tail }: SelectOutline): Set<string> | undefined {
  if (!isWord(tokens[tail.from], "GROUP")) return undefined;
  const keys = new Set<string>();
  for (const { at, token, depth } of bracketed(tokens, { from: tail.from + 2, to: tail.to })) {
    if (depth === 0 && isWord(token, "HAVING", "ORDER", "LIMIT", "OFFSET")) break;
    if (token.kind !== "var") continue;
    const before = tokens[at - 1];
    // `GROUP BY (?x)` groups by the variable itself.
    const alone = depth === 1 && before?.text === "(" && tokens[at + 1]?.text === ")";
    if (depth === 0 || alone || isWord(before, "AS")) keys.add(token.text.slice(1));
  }
  return keys;
}

function hasAggregate(tokens: readonly Token[], select: SelectOutline): boolean {
  const inside = select.exists.map(({ from, to }) => [from, to] as const);
  const ranges = [select.head, select.tail];
  return ranges.some(({ from, to }) => {
    for (let at = from; at < to; at++) {
      const skip = inside.find(([start, end]) => at >= start && at < end);
      if (skip) at = skip[1] - 1;
      else if (tokens[at]?.kind === "word" && aggregates.has(tokens[at]?.text ?? "")) return true;
    }
    return false;
  });
}
