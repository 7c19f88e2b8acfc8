import type { FederatedPlan, MergedMembers, PlanNote } from "../plan/query-plan.ts";
import type { AskedPattern, PatternSource, PatternSources, SourceSelection } from "../plan/source-selection.ts";
import { isEnginePredicate } from "./engine-predicates.ts";
import { parseQuery, type QueryTree } from "../sparql/query.ts";
import type { FactTable } from "./fact-table.ts";
import { exclusionsOf, withExclusions } from "./exclusions.ts";
import { type Lacks, MemberView } from "./member-view.ts";
import { anything, isInstance, keyOf, type Shape, toAsked } from "./shape.ts";
import { itemAt } from "../values.ts";

/**
 * The plan over those members only that may have matches of one of its patterns, each pattern with its members and the
 * certificates of the others. A plan without members to choose from comes back as it is.
 */
export function selectSources(
  plan: FederatedPlan,
  table: FactTable,
  { query, ask }: { readonly query: QueryTree; readonly ask?: readonly string[] | undefined },
): FederatedPlan {
  const { over } = plan;
  // A description may be made of any triple.
  if (over === undefined || over.members.length < 2 || query.ast.queryType === "DESCRIBE") return plan;
  const view = new MemberView(table, over.members, { ask, onlyNamed: over.onlyNamed });
  return selectedPlan(plan, over, { shapes: shapesOf(query), view });
}

/** The same for a plan that was selected before, with the answers since; it stays federated. */
export function selectAsked(plan: FederatedPlan, table: FactTable, lacks: Lacks): FederatedPlan {
  const { over } = plan;
  if (over?.selection === undefined || over.members.length < 2) return plan;
  const { leftOut } = over.selection;
  const shapes = shapesOf(parseQuery(plan.query));
  const view = new MemberView(table, over.members, { lacks, onlyNamed: over.onlyNamed });
  const selected = selectedPlan(plan, over, { shapes, view });
  if (selected.over?.selection === undefined) return selected;
  const { facts } = over.selection;
  const selection = { ...selected.over.selection, facts, leftOut: leftOut + selected.over.selection.leftOut };
  return { ...selected, over: { ...selected.over, selection } };
}

/** The patterns of a plan that a member can be asked for, by key. */
export function askedPatterns(plan: FederatedPlan): readonly AskedPattern[] {
  const shapes = shapesOf(parseQuery(plan.query));
  return [...shapes.values()].flatMap((shape) => {
    const { predicate } = shape;
    return predicate.kind === "iri" && !isEnginePredicate(predicate.iri) ? toAsked(shape) : [];
  });
}

function selectedPlan(
  plan: FederatedPlan,
  over: MergedMembers,
  { shapes, view }: Pick<Selecting, "shapes" | "view">,
): FederatedPlan {
  const found: Found = new Map([...shapes].map(([key, shape]) => [key, view.sourcesOf(shape)]));
  const kept = relevantMembers(found, over);
  return withSelection(plan, over, { count: over.members.length, kept, shapes, found, view });
}

/** By pattern; undefined where every member may match. */
type Found = ReadonlyMap<string, PatternSources | undefined>;

/** The different patterns outside of every SERVICE, by key. */
function shapesOf(query: QueryTree): ReadonlyMap<string, Shape> {
  const asked: Shape[] = query.patterns.filter(({ graph }) => graph !== "none");
  const isGraph = query.nodes().some(({ type }) => type === "graph");
  // The names of graphs may be asked for, which every member may have.
  if (isGraph) asked.push({ subject: anything, predicate: anything, object: anything, graph: "named" });
  return new Map(asked.map((pattern) => [keyOf(pattern), pattern]));
}

/** Indices of the members that one of the patterns needs, in order. */
function relevantMembers(found: Found, { members }: MergedMembers): readonly number[] {
  const kept = new Set<number>();
  for (const sources of found.values()) {
    if (sources === undefined) return [...members.keys()];
    for (const { member } of sources.sources) kept.add(member);
  }
  return [...kept].toSorted((one, other) => one - other);
}

interface Selecting {
  /** Number of all members. */
  readonly count: number;
  readonly kept: readonly number[];
  readonly shapes: ReadonlyMap<string, Shape>;
  readonly found: Found;
  readonly view: MemberView;
}

function withSelection(plan: FederatedPlan, all: MergedMembers, selecting: Selecting): FederatedPlan {
  const { kept, view } = selecting;
  const leftOut = all.members.length - kept.length;
  const members = kept.map((index) => itemAt(all.members, index));
  const newIndex = new Map(kept.map((member, index) => [member, index]));
  const disjointSubjects = view.disjointSubjects(kept).map(({ certificate, members: set }) => ({
    certificate,
    members: set.flatMap((member) => newIndex.get(member) ?? []),
  }));
  const facts = view.known;
  const selection: SourceSelection = { patterns: keptPatterns(selecting, newIndex), disjointSubjects, leftOut, facts };
  const over: MergedMembers = { ...all, members, selection };
  return {
    ...withExclusions(plan, exclusionsOf(selecting, all.members)),
    over,
    members: membersOf(plan, over),
    notes: [...plan.notes, ...leftOutNote(over, all.members.length, selecting.found)],
  };
}

/** The patterns, and each of their properties without constants: a step of a path is asked so. Of kept members only. */
function keptPatterns(
  { shapes, found, view, count }: Selecting,
  newIndex: ReadonlyMap<number, number>,
): SourceSelection["patterns"] {
  const patterns: Record<string, PatternSources> = {};
  const isWhole = newIndex.size === count;
  const renumbered = (source: PatternSource): readonly PatternSource[] => {
    const member = newIndex.get(source.member);
    return member === undefined ? [] : [{ ...source, member }];
  };
  const add = (key: string, known: PatternSources | undefined): void => {
    if (known === undefined || Object.hasOwn(patterns, key)) return;
    patterns[key] = isWhole ? known : { ...known, sources: known.sources.flatMap(renumbered) };
  };
  for (const [key, sources] of found) add(key, sources);
  for (const shape of shapes.values()) {
    if (isInstance(shape)) continue;
    const general: Shape = { subject: anything, predicate: shape.predicate, object: anything, graph: shape.graph };
    const key = keyOf(general);
    if (!Object.hasOwn(patterns, key)) add(key, view.sourcesOf(general));
  }
  return patterns;
}

/** Members that only answer patterns come first; of the others those that a SERVICE names. */
function membersOf({ clauses, members }: FederatedPlan, over: MergedMembers): FederatedPlan["members"] {
  const urls = new Set(over.members.map(({ url }) => url));
  return members.flatMap((member): FederatedPlan["members"] => {
    const { endpoint } = member;
    if (urls.has(endpoint.url)) return [member];
    const own = clauses.filter((clause) => clause.endpoint.url === endpoint.url);
    return own.length === 0 ? [] : [{ ...member, silent: own.every(({ silent }) => silent) }];
  });
}

function leftOutNote(over: MergedMembers, all: number, found: Found): readonly PlanNote[] {
  const leftOut = all - over.members.length;
  if (leftOut === 0) return [];
  const message = over.onlyNamed && leftOut < all ? askedMessage(over, leftOut) : leftOutMessage(leftOut, all, found);
  return [{ code: "MEMBERS_LEFT_OUT", message }];
}

/** Endpoints that are named one by one. */
const namedAtMost = 10;

/** Text about the endpoints that are asked among all described ones. */
function askedMessage({ members }: MergedMembers, leftOut: number): string {
  const named = members.slice(0, namedAtMost).map(({ id, url }) => id ?? url);
  const more = members.length > named.length ? ` and ${members.length - named.length} more` : "";
  const others =
    leftOut === 1
      ? "1 other described endpoint is not: its description names no match"
      : `${leftOut} other described endpoints are not: their descriptions name no match`;
  return `Asked: ${named.join(", ")}${more}. ${others}.`;
}

/** Certificates tell the oldest of the facts about all members, which need not be that of a member that is left out. */
function leftOutMessage(leftOut: number, all: number, found: Found): string {
  const certificates = [...found.values()].flatMap((sources) => sources?.excluded ?? []);
  const since = certificates.flatMap(({ certificate }) => certificate.seenAt ?? []).toSorted()[0];
  const isAsked = certificates.some(({ certificate }) => certificate.kind === "asked");
  const [one, several] = isAsked
    ? ["description or answer", "descriptions or answers"]
    : ["description", "descriptions"];
  const when = `(of ${since} or later)`;
  if (leftOut === all) {
    const by = since === undefined ? "" : `, by their ${several} ${when}`;
    return `No member has a match for any pattern${by}; prune=false asks all of them.`;
  }
  if (leftOut === 1) {
    return `1 of ${all} members is not asked: its ${one} ${when} proves that it has no match. prune=false asks it too.`;
  }
  return `${leftOut} of ${all} members are not asked: their ${several} ${when} prove that they have no match. prune=false asks them too.`;
}
