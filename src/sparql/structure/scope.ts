import type { Element, Group, SelectOutline, TokenRange } from "../parse/outline.ts";
import type { Token } from "../parse/tokens.ts";
import { itemAt } from "../../values.ts";

/** Names of all variables written in a range, without `?`. */
export function mentionedVariables(tokens: readonly Token[], range: TokenRange): Set<string> {
  const names = new Set<string>();
  for (let at = range.from; at < range.to; at++) {
    const token = itemAt(tokens, at);
    if (token.kind === "var") names.add(token.text.slice(1));
  }
  return names;
}

/** The names that are in one of the sets. */
export const union = (sets: readonly ReadonlySet<string>[]): Set<string> => new Set(sets.flatMap((set) => [...set]));

/** The projected variables of a SELECT (`*`: the visible ones of its WHERE). */
export function projectedVariables(tokens: readonly Token[], select: SelectOutline): Set<string> {
  if (select.projectsAll) return whereVariables(tokens, select);
  return new Set(columnsIn(select).map((column) => ("variable" in column ? column.variable : column).value));
}

const columnsIn = ({ tree }: SelectOutline) => ("variables" in tree ? tree.variables : []);

/** Variables in scope behind WHERE and the trailing VALUES of a SELECT. */
export function whereVariables(tokens: readonly Token[], select: SelectOutline): Set<string> {
  const where = select.where ? visibleInGroup(tokens, select.where) : new Set<string>();
  return where.union(new Set(select.values?.variables));
}

/** Variables in scope in a group (SPARQL 1.1 Query, section 18.2.1). */
export function visibleInGroup(tokens: readonly Token[], group: Group): Set<string> {
  if (group.select) {
    return projectedVariables(tokens, group.select).union(new Set(group.select.values?.variables));
  }
  return union(group.elements.map((element) => visibleInElement(tokens, element)));
}

/** Variables that an element brings into scope. */
export function visibleInElement(tokens: readonly Token[], element: Element): Set<string> {
  switch (element.kind) {
    case "triples":
    case "values":
      return mentionedVariables(tokens, element);
    case "filter":
    case "minus":
      return new Set();
    case "bind":
      return new Set([element.variable]);
    case "optional":
      return visibleInGroup(tokens, element.group);
    case "graph":
    case "service":
      return union([
        mentionedVariables(tokens, { from: element.name, to: element.name + 1 }),
        visibleInGroup(tokens, element.group),
      ]);
    default:
      return union(element.groups.map((branch) => visibleInGroup(tokens, branch)));
  }
}

/**
 * These groups and all that stand inside them, each before those inside it, in text order but for EXISTS behind a WHERE.
 * @param isEntered false for elements whose groups are left out
 */
export function* groupsWithin(
  groups: readonly Group[],
  isEntered: (element: Element) => boolean = () => true,
): Generator<Group> {
  const pending = groups.toReversed();
  for (let group = pending.pop(); group; group = pending.pop()) {
    yield group;
    const { select, elements } = group;
    const inner = select ? select.groups : elements.filter(isEntered).flatMap((element) => element.groups);
    pending.push(...inner.toReversed());
  }
}

/** The elements of these groups and of all groups inside them. */
export function* elementsWithin(groups: readonly Group[]): Generator<Element> {
  for (const { elements } of groupsWithin(groups)) yield* elements;
}
