import { type Clock, sleep } from "../clock.ts";
import type { WholeAnswer } from "../outbound/whole-answer.ts";
import type { FederatedPlan } from "../plan/query-plan.ts";
import type { KnownSources } from "../plan/plan-request.ts";
import type { HeldRows, HolderQuestion } from "../plan/source-selection.ts";
import { clauseEstimates, emptyClauses } from "./clause-facts.ts";
import { createDriftCheck, type DriftOptions } from "./check-drift.ts";
import { Existence } from "./existence.ts";
import { FactTable } from "./fact-table.ts";
import { holdersOf } from "./holders.ts";
import { FactFollower, type FollowedParts } from "./follow-facts.ts";
import { askedPatterns, selectAsked, selectSources } from "./select-sources.ts";

/** What facts are made of. */
interface SourcesOptions extends FollowedParts {
  readonly descriptions: FollowedParts["descriptions"] & DriftOptions["descriptions"];
  readonly settings: FollowedParts["settings"] & DriftOptions["settings"];
  /** The calendar: facts become too old also while a machine sleeps. */
  readonly clock: Clock;
  /** Whether an endpoint is known not to do subqueries. */
  readonly lacksSubqueries: (id: string) => boolean;
}

/** A start does not wait longer for the facts of a large catalogue; until they are read, everybody is asked. */
const firstReadMs = 1_000;

/** Members of which nothing is known, and patterns, from which on a round of existence queries can spare more than it costs. */
const worthMembers = 8;
const worthPatterns = 3;

/** The sources of federated plans, and what they are kept up to date with. */
interface Sources extends KnownSources, Pick<FactFollower, "refresh" | "remove" | "startReading" | "close"> {
  /** What an answer with this status says: an endpoint that is not there proves nothing until it is described again. */
  answered(id: string, status: number | undefined): void;
  /** Which rows of IRIs members may have. */
  holders(question: HolderQuestion): HeldRows;
  /** The plan without members that, when asked, had no match of its patterns; asks where nothing is known and it pays. */
  narrow(
    plan: FederatedPlan,
    options: { readonly signal: AbortSignal; readonly onAnswer: (id: string, answer: WholeAnswer) => void },
  ): Promise<FederatedPlan>;
}

/** The sources of federated plans, from what is certain of the catalogue's endpoints. Reads on in the background. */
export async function openSources(options: SourcesOptions): Promise<Sources> {
  const { clock, settings } = options;
  const table = new FactTable({ now: clock.now });
  const follower = settings.factsMaxAgeMs === 0 ? undefined : new FactFollower(table, options);
  const drift = createDriftCheck({ ...options, table, end: (id) => follower?.end(id) });
  const existence = new Existence(options);
  const ignore = options.descriptions.onChange((id) => existence.forget(id));
  const read = new AbortController();
  await Promise.race([
    Promise.resolve(follower?.refresh()).finally(() => read.abort()),
    sleep(firstReadMs, { clock, signal: read.signal }),
  ]);
  return {
    get version() {
      return table.version;
    },
    select: (plan, cutsKnown) => selectSources(plan, table, cutsKnown),
    emptyClauses: (clauses) => emptyClauses(clauses, table),
    subjectPartition: ({ id, url }) => table.get(id, url)?.partition,
    holders: (question) => holdersOf(question, table),
    clauseEstimates: (clauses) => clauseEstimates(clauses, table),
    async narrow(plan, asking) {
      const unknown = plan.over?.members.filter(({ id, url }) => table.get(id, url)?.properties === undefined) ?? [];
      if (follower === undefined || plan.over?.selection === undefined || unknown.length < worthMembers) return plan;
      const patterns = askedPatterns(plan);
      if (patterns.length < worthPatterns) return plan;
      await existence.ask(unknown, patterns, asking);
      return selectAsked(plan, table, (member, key) => existence.lacks(member, key));
    },
    refresh: async () => follower?.refresh(),
    remove: async (id) => follower?.remove(id),
    answered(id, status) {
      if (status !== 404 && status !== 410) return;
      follower?.end(id);
      existence.forget(id);
    },
    startReading() {
      follower?.startReading();
      drift.start();
    },
    async close() {
      ignore();
      await drift.close();
      await follower?.close();
    },
  };
}
