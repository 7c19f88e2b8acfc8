import { type Element, type Group, type Query, type ServiceElement, type TextEdit } from "../sparql/query.ts";
import { emptyGroup } from "./wrappers.ts";

/**
 * The text without SERVICE clauses that have no solution. A branch of a UNION that needs one goes with it; anywhere else a group
 * without solutions takes the clause's place, which is what the clause stands for in a join, OPTIONAL, MINUS or EXISTS alike.
 * Columns stay: where `SELECT *` would lose a variable, the branch stays as a group without solutions.
 */
export function withoutEmptyClauses(query: Query, isEmpty: (service: ServiceElement) => boolean): string {
  const { outline } = query;
  const site: Site = { query, isEmpty, projectsAll: query.selects.some((each) => each.projectsAll) };
  return query.cut(outline.groups.flatMap((group) => editsIn(group, site)));
}

interface Site {
  readonly query: Query;
  readonly isEmpty: (service: ServiceElement) => boolean;
  /** Some SELECT of the query takes all variables there are. */
  readonly projectsAll: boolean;
}

function editsIn(group: Group, site: Site): readonly TextEdit[] {
  if (group.select) return group.select.groups.flatMap((inner) => editsIn(inner, site));
  return group.elements.flatMap((element): readonly TextEdit[] => {
    if (hasNoSolution(element, site)) {
      return [{ range: element, replacement: emptyGroup(site.query.visibleIn(element)) }];
    }
    if (element.kind === "union") return unionEdits(element.groups, site);
    return element.groups.flatMap((inner) => editsIn(inner, site));
  });
}

const hasNoSolution = (element: Element, site: Site): boolean =>
  element.kind === "service"
    ? site.isEmpty(element)
    : element.kind === "union" && element.groups.every((branch) => isDead(branch, site));

/**
 * True if a group has no solutions: its elements are joined, except OPTIONAL and MINUS, which add nothing to no solutions.
 */
const isDead = ({ select, elements }: Group, site: Site): boolean =>
  select === undefined && elements.some((element) => hasNoSolution(element, site));

/** Of the branches of a UNION, one at least is alive. */
function unionEdits(branches: readonly Group[], site: Site): readonly TextEdit[] {
  const alive = branches.filter((branch) => !isDead(branch, site));
  const [first] = alive;
  const shown = new Set(alive.flatMap((branch) => [...site.query.visibleIn(branch)]));
  return branches.flatMap((branch): readonly TextEdit[] => {
    if (alive.includes(branch)) return editsIn(branch, site);
    const visible = site.query.visibleIn(branch);
    if (site.projectsAll && [...visible].some((name) => !shown.has(name))) {
      return [{ range: branch, replacement: emptyGroup(visible) }];
    }
    // With the UNION behind it, or in front of it.
    const isBefore = first !== undefined && branch.from < first.from;
    const range = isBefore ? { from: branch.from, to: branch.to + 1 } : { from: branch.from - 1, to: branch.to };
    return [{ range, replacement: "" }];
  });
}
