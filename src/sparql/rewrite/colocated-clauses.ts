import type { Query, TextEdit } from "../parse/query.ts";
import type { Pattern } from "sparqljs";
import { requiredTriples } from "../structure/certain-variables.ts";
import { bodyText, withDot } from "./merge-clauses.ts";
import type { Element, ServiceElement } from "../parse/outline.ts";
import { isPath } from "../patterns/query-patterns.ts";
import { groupsWithin } from "../structure/scope.ts";

/** Known facts about the endpoints of SERVICE clauses. */
interface Colocation {
  /** The URL of a clause's endpoint; undefined for a clause that is left alone. */
  readonly urlOf: (service: ServiceElement) => string | undefined;
  /** True if no subject has triples at both endpoints. */
  readonly areDisjoint: (url: string, other: string) => boolean;
}

/**
 * Joins what asks the same endpoints about the same subject: each a SERVICE clause, or a UNION of them, with `?s` as a subject in
 * every body. Where no subject is at two of the endpoints, a solution takes both bodies from one endpoint, and
 * `{A{p} UNION B{p}} {A{q} UNION B{q}}` is `{A{p q}} UNION {B{p q}}`. Endpoints that only one of them asks have no part in it.
 *
 * What stands between may be joined in any order; OPTIONAL, MINUS and BIND may not. SILENT clauses stay: they have a solution
 * for failures. `joined`: how many elements of groups were joined into others.
 */
export function colocateClauses(query: Query, colocation: Colocation) {
  const site: Site = { ...colocation, parsed: query };
  const edits: TextEdit[] = [];
  let joined = 0;
  const groups = groupsWithin(query.outline.groups, ({ kind }) => kind !== "service");
  for (const { elements } of groups) {
    for (const star of starsOf(elements, site)) {
      joined += star.elements.length - 1;
      if (star.elements.length > 1) edits.push(...starEdits(star, site));
    }
  }
  return joined === 0 ? { text: query.text, joined } : { text: query.cut(edits), joined };
}

interface Site extends Colocation {
  readonly parsed: Query;
}

/** Elements of one group that are joined on a subject, and their clauses by endpoint. */
interface Star {
  readonly elements: readonly Element[];
  readonly clauses: ReadonlyMap<string, readonly ServiceElement[]>;
  readonly subjects: ReadonlySet<string>;
}

function starsOf(elements: readonly Element[], site: Site): readonly Star[] {
  const stars: Star[] = [];
  let open: Star[] = [];
  for (const element of elements) {
    if (element.kind === "optional" || element.kind === "minus" || element.kind === "bind") open = [];
    const single = starOf(element, site);
    if (single === undefined) continue;
    const at = open.findIndex((star) => areJoinable(star, single, site));
    const known = open[at];
    if (known === undefined) {
      open.push(single);
      stars.push(single);
      continue;
    }
    const star = joinedStar(known, single);
    open[at] = star;
    stars[stars.indexOf(known)] = star;
  }
  return stars;
}

function starOf(element: Element, site: Site): Star | undefined {
  const services = servicesOf(element);
  if (services === undefined) return undefined;
  const clauses = new Map<string, readonly ServiceElement[]>();
  for (const service of services) {
    const url = site.urlOf(service);
    if (url === undefined || service.silent || clauses.has(url)) return undefined;
    clauses.set(url, [service]);
  }
  const [first = new Set<string>(), ...others] = services.map(({ group }) => new Set(subjectsIn(group.patterns)));
  const subjects = others.reduce((common, each) => common.intersection(each), new Set(first));
  return subjects.size === 0 ? undefined : { elements: [element], clauses, subjects };
}

/** A SERVICE clause, or the clauses of a UNION of nothing else. */
export function servicesOf(element: Element): readonly ServiceElement[] | undefined {
  if (element.kind === "service") return [element];
  if (element.kind !== "union") return undefined;
  const only = element.groups.map(({ elements: [first, ...others] }) =>
    first?.kind === "service" && others.length === 0 ? first : undefined,
  );
  return only.every((service) => service !== undefined) ? only : undefined;
}

/** With a subject and an endpoint in common, and no subject at an endpoint of one and another endpoint of the other. */
function areJoinable(one: Star, other: Star, { areDisjoint }: Site): boolean {
  const [urls, others] = [[...one.clauses.keys()], [...other.clauses.keys()]];
  return (
    !one.subjects.isDisjointFrom(other.subjects) &&
    urls.some((url) => other.clauses.has(url)) &&
    urls.every((url) => others.every((each) => url === each || areDisjoint(url, each)))
  );
}

function joinedStar(one: Star, other: Star): Star {
  const shared = [...one.clauses].filter(([url]) => other.clauses.has(url));
  return {
    elements: [...one.elements, ...other.elements],
    clauses: new Map(shared.map(([url, clauses]) => [url, [...clauses, ...(other.clauses.get(url) ?? [])]])),
    subjects: one.subjects.union(other.subjects),
  };
}

function starEdits({ elements, clauses }: Star, { parsed }: Site): readonly TextEdit[] {
  const [first, ...others] = elements;
  if (first === undefined) return [];
  const branches = [...clauses].map(([url, services]) => {
    const bodies = services.map(({ group }) => bodyText(parsed, group));
    return `SERVICE <${url}> { ${bodies.join(" ")} }`;
  });
  const replacement = branches.length === 1 ? `${branches[0]}` : branches.map((each) => `{ ${each} }`).join(" UNION ");
  return [
    { range: first, replacement },
    ...others.map((element) => ({ range: withDot(parsed, element), replacement: "" })),
  ];
}

/** Variables that patterns bind in each solution as subjects of triples. */
const subjectsIn = (patterns: readonly Pattern[]): readonly string[] =>
  requiredTriples(patterns).flatMap(({ subject, predicate }) =>
    subject.termType === "Variable" && !isPath(predicate) ? [subject.value] : [],
  );
