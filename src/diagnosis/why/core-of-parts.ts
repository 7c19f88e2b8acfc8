import type { Inquiry } from "./inquiry.ts";
import { type QueryPart, renderParts } from "./query-parts.ts";

interface Core {
  readonly core: readonly QueryPart[];
  readonly needless: readonly QueryPart[];
}

/** Parts that have no solutions together, by facts or as endpoints answer; needless are those without any one of which the query has some. */
export async function coreOf(inquiry: Inquiry): Promise<Core> {
  return contradicted(inquiry) ?? (await askedCore(inquiry));
}

/** The patterns that no row matches together, by facts. */
function contradicted({ parts, known }: Inquiry): Core | undefined {
  const against = known.contradictions.find(({ certain, isEmpty }) => certain && isEmpty);
  const core = parts.filter(({ range, triple }) =>
    against?.places.some((at) => triple !== undefined && range.from <= at && at < range.to),
  );
  return core.length < 2 ? undefined : { core, needless: [] };
}

async function askedCore(inquiry: Inquiry): Promise<Core> {
  const { parts, prober } = inquiry;
  const filters = parts.filter(({ kind }) => kind === "filter");
  const patterns = parts.filter(({ kind }) => kind !== "filter");
  const removable = parts.filter(({ kind }) => kind !== "optional" && kind !== "bind");
  const groups = [patterns, ...removable.map((part) => without(parts, part))];
  const [unfiltered, ...left] = await prober.anySolutions(groups.map(renderParts));
  const needless = removable.filter((_, at) => left[at] === true);
  if (needless.length > 0) return { core: needless, needless };
  const failing = unfiltered === true ? await firstFailing(inquiry, patterns, filters) : [];
  return { core: failing.length > 0 ? failing : await firstFailing(inquiry, [], patterns), needless };
}

/** All parts but one, and but the filters that need what only that one binds. */
function without(parts: readonly QueryPart[], part: QueryPart): readonly QueryPart[] {
  const rest = parts.filter((other) => other !== part);
  const bound = new Set(rest.flatMap(({ kind, variables }) => (kind === "filter" ? [] : [...variables])));
  const lost = part.kind === "filter" ? [] : [...part.variables].filter((name) => !bound.has(name));
  return rest.filter(({ kind, variables }) => kind !== "filter" || !lost.some((name) => variables.has(name)));
}

/**
 * The first part with which those before it have no solutions, found by halving: more parts never have more solutions. Empty
 * when that is unknown.
 */
async function firstFailing(
  { prober }: Inquiry,
  given: readonly QueryPart[],
  growing: readonly QueryPart[],
): Promise<QueryPart[]> {
  const inOrder = (count: number): string =>
    renderParts([...given, ...growing.slice(0, count)].toSorted((left, right) => left.range.from - right.range.from));
  let [low, high] = [0, growing.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const [has] = await prober.anySolutions([inOrder(middle)]);
    if (has === undefined) return [];
    if (has) low = middle;
    else high = middle;
  }
  const failing = growing[high - 1];
  return failing === undefined ? [] : [failing];
}
