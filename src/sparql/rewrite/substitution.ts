import { itemAt } from "../../values.ts";
import { certainVariables } from "../structure/certain-variables.ts";
import type { Element, Group, SelectOutline } from "../parse/outline.ts";
import { mentionedVariables, union, visibleInGroup } from "../structure/scope.ts";
import { type Token } from "../parse/tokens.ts";

/** Where values stand for variables when a clause inside EXISTS is asked (SPARQL 1.1 Query, section 18.6). */
export interface Substitution {
  /** Variables for which joining a value from outside the clause would differ from substituting it. */
  readonly variables: readonly string[];
  /** The groups that need values, outer ones first. */
  readonly sites: readonly SubstitutionSite[];
}

/** A group into which values are written. */
interface SubstitutionSite {
  /** Position in the clause's pattern, just behind the group's opening brace. */
  readonly at: number;
  /** Variables that the group mentions and does not assign. */
  readonly variables: readonly string[];
}

/**
 * Effect of substitution on a clause; undefined when it is the same as a join. It differs where a FILTER or BIND
 * mentions a variable that nothing beside it binds for certain, and where only an OPTIONAL or MINUS mentions it. A variable
 * that a subselect does not project is another one of the same name; with LIMIT or OFFSET the subselect is left as it is,
 * because it chooses among all of its solutions.
 */
export function substitutionOf(tokens: readonly Token[], group: Group): Substitution | undefined {
  const groups = new SubstitutedGroups(tokens, itemAt(tokens, group.from).start);
  const variables = groups.needs(group);
  return variables.size === 0 ? undefined : { variables: [...variables], sites: groups.sites(group) };
}

class SubstitutedGroups {
  readonly #tokens: readonly Token[];
  readonly #start: number;
  readonly #needs = new Map<Group, ReadonlySet<string>>();

  constructor(tokens: readonly Token[], start: number) {
    this.#tokens = tokens;
    this.#start = start;
  }

  /** Variables whose values must be known inside the group. */
  needs(group: Group): ReadonlySet<string> {
    const known = this.#needs.get(group) ?? this.#findNeeds(group);
    this.#needs.set(group, known);
    return known;
  }

  /** `within`: variables of the clause that have the same name in the group. */
  sites(group: Group, within?: ReadonlySet<string>): readonly SubstitutionSite[] {
    const { select, elements } = group;
    if (this.needs(group).size === 0) return [];
    if (select) {
      const handed = handedOn(this.#tokens, select);
      return select.where ? this.sites(select.where, within ? handed.intersection(within) : handed) : [];
    }
    const assigned = new Set(elements.flatMap((element) => (element.kind === "bind" ? [element.variable] : [])));
    const names = [...this.#mentioned(group)].filter((name) => within?.has(name) !== false && !assigned.has(name));
    const inner = elements.filter((element) => !isExpression(element)).flatMap((element) => element.groups);
    return [
      { at: itemAt(this.#tokens, group.from).end - this.#start, variables: names },
      ...inner.flatMap((nested) => this.sites(nested, within)),
    ];
  }

  #findNeeds({ select, elements, patterns }: Group): ReadonlySet<string> {
    if (select) {
      const inner = select.where ? this.needs(select.where) : new Set<string>();
      return inner.intersection(handedOn(this.#tokens, select));
    }
    const certain = certainVariables(patterns);
    const own = union(elements.map((element) => this.#ofElement(element)));
    const inner = elements.filter((element) => !isExpression(element)).flatMap((element) => element.groups);
    const names = inner.map((nested) => this.needs(nested));
    return union([new Set([...own].filter((name) => !certain.has(name))), ...names]);
  }

  #ofElement(element: Element): ReadonlySet<string> {
    if (isExpression(element)) return mentionedVariables(this.#tokens, element);
    const isOwn = element.kind === "optional" || element.kind === "minus";
    return isOwn ? this.#mentioned(element.group) : new Set();
  }

  /** Variables that substitution reaches in a group. */
  #mentioned(group: Group): ReadonlySet<string> {
    return new Set([...visibleInGroup(this.#tokens, group), ...this.needs(group)]);
  }
}

const isExpression = ({ kind }: Element): boolean => kind === "filter" || kind === "bind";

/** Variables that a subselect projects as they are, so that inside it they are those of outside. */
function handedOn(tokens: readonly Token[], select: SelectOutline): ReadonlySet<string> {
  const { tree, where } = select;
  if (tree.queryType !== "SELECT" || tree.limit !== undefined || tree.offset !== undefined) return new Set();
  if (select.projectsAll && where) return visibleInGroup(tokens, where);
  const computed = new Set(tree.group?.map(({ variable }) => variable?.value));
  const plain = tree.variables.flatMap((column) => ("termType" in column ? column.value : []));
  return new Set(plain).difference(computed);
}
