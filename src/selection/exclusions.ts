import type { FederatedPlan, PlannedEndpoint } from "../plan/query-plan.ts";
import {
  type AskedPattern,
  allExclusions,
  type Exclusion,
  type Exclusions,
  type PatternSources,
} from "../plan/source-selection.ts";
import type { MemberView } from "./member-view.ts";
import type { Shape } from "./shape.ts";

/** Selected sources of a federation's patterns. */
interface Selected {
  readonly shapes: ReadonlyMap<string, Shape>;
  /** By pattern; undefined where every member may match. */
  readonly found: ReadonlyMap<string, PatternSources | undefined>;
  readonly view: MemberView;
}

/** The members that are not asked for some pattern, each with what it must not match; undefined when all are asked for all. */
export function exclusionsOf(
  { shapes, found, view }: Selected,
  members: readonly PlannedEndpoint[],
): Exclusions | undefined {
  const excluded = new Map<number, Map<string, AskedPattern>>();
  let decisive = false;
  for (const [key, shape] of shapes) {
    const sources = found.get(key)?.sources;
    if (sources === undefined) continue;
    decisive ||= sources.length === 0;
    const having = new Set(sources.map(({ member }) => member));
    for (const member of members.keys()) {
      if (having.has(member) || view.isUnverified(member)) continue;
      const pattern = view.excluding(shape, member);
      const own = excluded.get(member) ?? new Map<string, AskedPattern>();
      excluded.set(member, own.set(pattern.key, pattern));
    }
  }
  if (excluded.size === 0) return undefined;
  const list = [...excluded].flatMap(([member, patterns]): readonly Exclusion[] => {
    const endpoint = members[member];
    const seenAt = view.seenAt(member) ?? Number.POSITIVE_INFINITY;
    return endpoint === undefined ? [] : [{ endpoint, patterns: [...patterns.values()], seenAt }];
  });
  return { list, decisive };
}

/** The same plan, which leaves out more. */
export function withExclusions(plan: FederatedPlan, more: Exclusions | undefined): FederatedPlan {
  return { ...plan, exclusions: plan.exclusions ? allExclusions([plan.exclusions, more]) : more };
}
