import type { Inquiry } from "./inquiry.ts";
import { type QueryPart, renderParts } from "./query-parts.ts";
import { type Claim, none, some } from "./statements.ts";
import { shownPart } from "./inquiry.ts";

interface Core {
  readonly core: readonly QueryPart[];
  readonly needless: readonly QueryPart[];
  readonly claims: readonly Claim[];
}

/** Parts that have no solutions together, by facts or as endpoints answer; needless are those without any one of which the query has some. */
export async function coreOf(inquiry: Inquiry): Promise<Core> {
  const isSo = ({ core }: Core): boolean => inquiry.prober.evidence(none(core).question)?.count === 0;
  return contradicted(inquiry).find(isSo) ?? (await askedCore(inquiry));
}

/** The patterns that no row matches together, by facts. */
export function contradicted({ parts, known }: Inquiry): readonly Core[] {
  const against = known.contradictions.find(({ certain, isEmpty }) => certain && isEmpty);
  const core = parts.filter(({ range, triple }) =>
    against?.places.some((at) => triple !== undefined && range.from <= at && at < range.to),
  );
  const text = `These have no solutions together: ${namesOf(core)}`;
  return core.length < 2 ? [] : [{ core, needless: [], claims: [{ text, grounds: [none(core)] }] }];
}

async function askedCore(inquiry: Inquiry): Promise<Core> {
  const { parts, prober } = inquiry;
  const filters = parts.filter(({ kind }) => kind === "filter");
  const patterns = parts.filter(({ kind }) => kind !== "filter");
  const removable = parts.filter(({ kind }) => kind !== "optional" && kind !== "bind");
  const groups = [patterns, ...removable.map((part) => without(parts, part))];
  const [unfiltered, ...left] = await prober.anySolutions(groups.map(renderParts));
  const needless = removable.filter((_, at) => left[at] === true);
  if (needless.length > 0) return { core: needless, needless, claims: [neededBy(inquiry, needless)] };
  const failing = unfiltered === true ? await firstFailing(inquiry, patterns, filters) : undefined;
  const found = failing ?? (await firstFailing(inquiry, [], patterns));
  return found ? { ...found, needless } : { core: [], needless, claims: [] };
}

const namesOf = (parts: readonly QueryPart[]): string => parts.slice(0, 3).map(shownPart).join("  and  ");

/** The query has solutions without any one of some parts. */
function neededBy({ parts, all }: Inquiry, needless: readonly QueryPart[]): Claim {
  const named = needless.slice(0, 3);
  const rests = named.map((part) => without(parts, part));
  const isMore = rests.some((rest) => rest.length < parts.length - 1);
  const filters = isMore ? " and the FILTERs that need it" : "";
  const text = named.length === 1 ? namesOf(named) : `any one of these${filters}: ${namesOf(named)}`;
  return {
    text: `The ${parts === all ? "query" : "group"} has no solutions, though it has some without ${text}${named.length === 1 ? filters : ""}`,
    grounds: [none(parts), ...rests.map(some)],
  };
}

/** All parts but one, and but the filters that need what only that one binds. */
function without(parts: readonly QueryPart[], part: QueryPart): readonly QueryPart[] {
  const rest = parts.filter((other) => other !== part);
  const bound = new Set(rest.flatMap(({ kind, variables }) => (kind === "filter" ? [] : [...variables])));
  const lost = part.kind === "filter" ? [] : [...part.variables].filter((name) => !bound.has(name));
  return rest.filter(({ kind, variables }) => kind !== "filter" || !lost.some((name) => variables.has(name)));
}

/**
 * The first part with which those before it have no solutions, found by halving: more parts never have more solutions.
 * Undefined when that is unknown.
 */
async function firstFailing(
  { prober }: Inquiry,
  given: readonly QueryPart[],
  growing: readonly QueryPart[],
): Promise<Pick<Core, "core" | "claims"> | undefined> {
  const inOrder = (count: number): readonly QueryPart[] =>
    [...given, ...growing.slice(0, count)].toSorted((left, right) => left.range.from - right.range.from);
  let [low, high] = [0, growing.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const [has] = await prober.anySolutions([renderParts(inOrder(middle))]);
    if (has === undefined) return undefined;
    if (has) low = middle;
    else high = middle;
  }
  const failing = growing[high - 1];
  if (failing === undefined) return undefined;
  const before = inOrder(high - 1);
  const text =
    before.length === 0
      ? `${shownPart(failing)} has no solutions, not even alone`
      : failing.kind === "filter"
        ? `The patterns have no solutions with ${shownPart(failing)} and the FILTERs before it, though they have some without it`
        : `The patterns as far as ${shownPart(failing)} have no solutions, though those before it have some`;
  return {
    core: [failing],
    claims: [{ text, grounds: [none(inOrder(high)), ...(before.length > 0 ? [some(before)] : [])] }],
  };
}
