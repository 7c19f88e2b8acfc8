import type { FedwayError } from "../errors/fedway-error.ts";
import type { Group, QueryOutline, SelectOutline } from "./outline.ts";
import { groupsOf, groupsOfSelect, visibleInElement, whereVariables } from "./scope.ts";
import { bracketed, isWord, syntaxError, type Token, tokenAt } from "./tokens.ts";

interface Checked {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly outline: QueryOutline;
}

/**
 * Scope rules that the parser does not check: a blank-node label belongs to one basic graph pattern (SPARQL 1.1
 * Query, section 4.1.4), BIND and AS need a variable that is not in scope (section 18.2.1). Undefined: all is well.
 */
export function illegalScope(query: Checked): FedwayError | undefined {
  const labels = new Map<string, object>();
  const pending: Group[] = [];
  const enterSelect = (select: SelectOutline): FedwayError | undefined => {
    pending.push(...groupsOfSelect(select));
    return illegalAlias(query, select);
  };
  const wrong = enterSelect(query.outline);
  if (wrong) return wrong;
  for (let group = pending.pop(); group; group = pending.pop()) {
    const illegal = group.select
      ? enterSelect(group.select)
      : (illegalLabel(query, group, labels) ?? illegalBind(query, group));
    if (illegal) return illegal;
    pending.push(...group.elements.flatMap((element) => groupsOf(element)));
  }
  return undefined;
}

function illegalLabel(query: Checked, group: Group, labels: Map<string, object>): FedwayError | undefined {
  let pattern = {};
  for (const element of group.elements) {
    // FILTER does not end a basic graph pattern, everything else does.
    if (element.kind === "filter") continue;
    if (element.kind !== "triples") {
      pattern = {};
      continue;
    }
    for (let at = element.from; at < element.to; at++) {
      const token = tokenAt(query.tokens, at);
      if (token.kind !== "blank") continue;
      const owner = labels.get(token.text) ?? pattern;
      labels.set(token.text, owner);
      if (owner === pattern) continue;
      return syntaxError(query.text, token.start, {
        message: `The blank node label ${token.text.slice(0, 60)} is used in two different graph patterns.`,
        next: "Use a variable where the same node is meant, else another label.",
      });
    }
  }
  return undefined;
}

function illegalBind(query: Checked, group: Group): FedwayError | undefined {
  if (!group.elements.some((element) => element.kind === "bind")) return undefined;
  const visible = new Set<string>();
  for (const element of group.elements) {
    if (element.kind === "bind" && visible.has(element.variable)) {
      const variable = tokenAt(query.tokens, element.to - 2);
      return syntaxError(query.text, variable.start, {
        message: `BIND assigns ?${element.variable.slice(0, 60)}, which is in scope already.`,
        next: "Assign to a new variable, or write the condition as a FILTER.",
      });
    }
    for (const name of visibleInElement(query.tokens, element)) visible.add(name);
  }
  return undefined;
}

function illegalAlias(query: Checked, select: SelectOutline): FedwayError | undefined {
  const { tokens } = query;
  if (!isWord(tokens[select.head.from], "SELECT")) return undefined;
  let where: Set<string> | undefined;
  for (const { at, token, depth } of bracketed(tokens, select.head)) {
    if (depth !== 1 || token.kind !== "var" || !isWord(tokens[at - 1], "AS")) continue;
    where ??= whereVariables(tokens, select);
    if (!where.has(token.text.slice(1))) continue;
    return syntaxError(query.text, token.start, {
      message: `AS assigns ${token.text.slice(0, 60)}, which is in scope already.`,
      next: "Give the column a name that WHERE does not use.",
    });
  }
  return undefined;
}
