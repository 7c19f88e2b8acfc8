import type { Federation } from "../registry/catalog.ts";
import type { Query } from "../sparql/query.ts";
import { termsOf, type UsedTerm } from "../sparql/patterns.ts";
import type { KnownPart, PlanContext, PlanTask } from "./plan-request.ts";
import type { PlannedEndpoint, PlanNote } from "./query-plan.ts";
import { plannedEndpoint, type ServiceTargets } from "./service-targets.ts";

/** A class or property that is asked for of many things, and the classes that the query says they are of. */
interface Use extends UsedTerm {
  readonly classes: readonly string[];
}

/** An endpoint that a query names, or the members of a federation, and the terms they are asked for. */
interface Asked {
  /** Absent: a federation. */
  readonly id?: string | undefined;
  readonly members: ReadonlySet<string | undefined>;
  readonly uses: readonly Use[];
  /** The IRI that SERVICE has; absent: what the query is sent to. */
  readonly iri: string | undefined;
}

const mostNotes = 3;

/**
 * Which endpoints have other parts of what the query asks one for by name: an answer of one part must not look whole. Patterns about
 * a constant subject ask for one thing, which is in one part.
 */
export function partNotes(query: Query, targets: ServiceTargets, task: PlanTask): readonly PlanNote[] {
  const { context } = task;
  const { parts } = context;
  if (parts === undefined) return [];
  const asked = askedOf(query, targets, task);
  const isAsked = (id: string, { iri }: Use): boolean =>
    asked.some(({ members, uses }) => members.has(id) && uses.some((use) => use.iri === iri));
  const notes = asked.flatMap(({ id, uses, iri }): readonly PlanNote[] => {
    if (id === undefined || !uses.some((use) => isElsewhere(id, use, context))) return [];
    const [first] = parts(id).flatMap((part) => missingOf(part, { uses, isAsked, context }));
    return first ? [partNote(first, { id, iri, query, asked, context })] : [];
  });
  return notes.slice(0, mostNotes);
}

function askedOf(query: Query, { members }: ServiceTargets, { entry, over }: PlanTask): readonly Asked[] {
  const named = new Map<
    string | undefined,
    { readonly id?: string | undefined; readonly all: readonly { readonly id?: string | undefined }[] }
  >();
  const name = (iri: string | undefined, { id, over: merged }: PlannedEndpoint): void =>
    void named.set(iri, { id, all: merged?.members ?? [{ id }] });
  for (const { target, element } of query.services) {
    const endpoint = members.get(element.from);
    if (target.kind === "iri" && endpoint) name(target.iri, endpoint);
  }
  if (entry) name(undefined, plannedEndpoint(entry));
  if (over) named.set(undefined, { all: over.members });
  const placed = Map.groupBy(query.allPatterns, ({ service }) => service);
  return [...placed].flatMap(([iri, patterns]) => {
    const { id, all } = named.get(iri) ?? {};
    return all ? [{ id, iri, members: new Set(all.map((member) => member.id)), uses: usesOf(patterns) }] : [];
  });
}

/** Uses of each variable: its properties or, without any, its class. */
function usesOf(patterns: Query["allPatterns"]): readonly Use[] {
  const bySubject = Map.groupBy(patterns, ({ subject }) => (subject.kind === "variable" ? subject.name : ""));
  bySubject.delete("");
  return [...bySubject.values()].flatMap((about) => {
    const terms = termsOf(about);
    const [properties, types] = [
      terms.filter(({ kind }) => kind === "property"),
      terms.filter(({ kind }) => kind === "class"),
    ];
    const classes = types.map(({ iri }) => iri);
    return (properties.length > 0 ? properties : types).map(({ kind, iri }) => ({ kind, iri, classes }));
  });
}

/** Another endpoint has the term: only then it is worth finding out whether they have parts of the same. */
const isElsewhere = (id: string, use: Use, { terms }: PlanContext): boolean =>
  [...(terms?.endpointsWith(use) ?? [])].some((other) => other !== id);

interface Looking {
  readonly uses: readonly Use[];
  readonly isAsked: (id: string, use: Use) => boolean;
  readonly context: PlanContext;
}

/** The part with its unasked siblings that have the requested terms. */
function missingOf(part: KnownPart, { uses, isAsked, context }: Looking): readonly KnownPart[] {
  const about = uses.filter(({ classes }) => classes.length === 0 || classes.includes(part.class));
  const siblings = part.siblings.filter(({ endpoint, properties }) => {
    const has = (use: Use): boolean =>
      use.kind === "class" ? context.terms?.hasTerm(endpoint, use) === "yes" : properties.includes(use.iri);
    return about.some((use) => has(use) && !isAsked(endpoint, use));
  });
  return siblings.length === 0 ? [] : [{ ...part, siblings }];
}

interface Naming {
  readonly id: string;
  readonly iri: string | undefined;
  readonly query: Query;
  readonly asked: readonly Asked[];
  readonly context: PlanContext;
}

const namedAtMost = 5;

function partNote(part: KnownPart, { id, iri, query, asked, context }: Naming): PlanNote {
  const others = part.siblings.map(({ endpoint }) => endpoint);
  const more = others.length > namedAtMost ? ` and ${others.length - namedAtMost} more` : "";
  const listed = `${others.slice(0, namedAtMost).join(", ")}${more}`;
  const name = /(?<![^/#])[^/#]*$/.exec(part.class)?.[0] ?? part.class;
  const said =
    part.source === "builder"
      ? `${id} has 1 of ${others.length + 1} parts of ${name}; the other${others.length === 1 ? "" : "s"}: ${listed}.`
      : `${id} is not the only one with ${name}; also: ${listed}.`;
  const isAsking = (members: ReadonlySet<string>): boolean => [id, ...others].every((one) => members.has(one));
  const federation = federationWith(isAsking, context);
  if (federation === undefined) return { code: "PART_ASKED", message: said };
  const all = others.length === 1 ? "both" : "all of them";
  const service = `SERVICE <${federation.id}>`;
  // With BASE the id would be another IRI.
  if (iri === undefined || query.prologue.base !== undefined) {
    return { code: "PART_ASKED", message: `${said} Federation ${federation.id} asks ${all}.` };
  }
  if (isTwice(iri, { query, asked, members: new Set(context.catalog.membersOf(federation).map((one) => one.id)) })) {
    return { code: "PART_ASKED", message: `${said} One ${service} in the place of the branches asks ${all}.` };
  }
  const edits = query.services.flatMap(({ target, element: { name: at } }) =>
    target.kind === "iri" && target.iri === iri
      ? [{ range: { from: at, to: at + 1 }, replacement: `<${federation.id}>` }]
      : [],
  );
  const asking = query.cut(edits);
  return { code: "PART_ASKED", message: `${said} ${service} asks ${all}.`, query: asking };
}

/**
 * True if the federation in the place of this IRI would be asked the same as another branch of a UNION asks it, or one of its members:
 * their rows would count twice.
 */
function isTwice(
  iri: string,
  { query, asked, members }: Pick<Naming, "query" | "asked"> & { readonly members: ReadonlySet<string> },
): boolean {
  const isWithin = (other: string): boolean =>
    asked.some((each) => each.iri === other && [...each.members].some((id) => id !== undefined && members.has(id)));
  const clauses = query.services.flatMap(({ target, element: { name: at } }, clause) => {
    if (target.kind !== "iri" || !isWithin(target.iri)) return [];
    const terms = termsOf(query.allPatterns.filter((pattern) => pattern.clause === clause));
    return [{ at, isNamed: target.iri === iri, iris: new Set(terms.map((term) => term.iri)) }];
  });
  return clauses.some((one, place) =>
    clauses
      .slice(place + 1)
      .some(
        (other) =>
          (one.isNamed || other.isNamed) &&
          !one.iris.isDisjointFrom(other.iris) &&
          query.areAlternatives(one.at, other.at),
      ),
  );
}

/** The smallest federation whose members are as wanted; that of all described endpoints where no other is. */
function federationWith(
  isWanted: (members: ReadonlySet<string>) => boolean,
  { catalog }: PlanContext,
): Federation | undefined {
  const sizes = catalog.federations.flatMap((federation) => {
    const members = catalog.membersOf(federation).map(({ id }) => id);
    return isWanted(new Set(members)) ? [{ federation, size: members.length }] : [];
  });
  const [best] = sizes.toSorted(
    (one, other) => lastOf(one.federation) - lastOf(other.federation) || one.size - other.size,
  );
  return best?.federation;
}

const lastOf = ({ builtIn }: Federation): number => (builtIn ? 1 : 0);
