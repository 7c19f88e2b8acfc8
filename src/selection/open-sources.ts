import { type Clock, sleep } from "../clock.ts";
import type { KnownSources } from "../plan/plan-request.ts";
import { clauseEstimates, emptyClauses } from "./clause-facts.ts";
import { createDriftCheck, type DriftOptions } from "./check-drift.ts";
import { Existence } from "./existence.ts";
import { FactTable } from "./fact-table.ts";
import { createHolders } from "./holders.ts";
import { FactFollower, type FollowedParts } from "./follow-facts.ts";
import { selectSources } from "./select-sources.ts";
import { SourceVerifier } from "./source-verifier.ts";

/** Options of opening sources. */
interface SourcesOptions extends FollowedParts, Pick<DriftOptions, "asker" | "isOwn"> {
  readonly catalog: FollowedParts["catalog"] & DriftOptions["catalog"];
  /** Names the data that this process hosts under a URL now, where these cannot change. */
  readonly buildOf?: ((url: string) => string | undefined) | undefined;
  /** Has an endpoint described anew whose facts were found to be wrong. */
  readonly renew: (id: string) => Promise<unknown>;
  /** Milliseconds for which an exclusion that was verified counts. */
  readonly settings: FollowedParts["settings"] & DriftOptions["settings"] & { readonly factsVerifyMs: number };
  /** The calendar: facts become too old also while a machine sleeps. */
  readonly clock: Clock;
  /** True if an endpoint is known not to support subqueries. */
  readonly lacksSubqueries: (id: string) => boolean;
}

/** A start does not wait longer for the keys of a large catalogue. */
const firstReadMs = 1_000;

/** The sources of federated plans, with their updates. */
interface Sources extends KnownSources, Pick<FactFollower, "remove"> {
  /** Asks endpoints for their data. */
  readonly verifier: SourceVerifier;
  /** Notes the status of an answer: a missing endpoint proves nothing until it is described again. */
  answered(id: string, status: number | undefined): void;
  /** Which rows of keys members may have solutions for. */
  readonly holders: ReturnType<typeof createHolders>;
  /** From now on, checks now and then whether endpoints have as many triples as described. */
  startChecking(): void;
  close(): Promise<void>;
}

/** The sources of federated plans, from certain facts about the catalogue's endpoints. */
export async function openSources(options: SourcesOptions): Promise<Sources> {
  const { clock, settings } = options;
  const table = new FactTable({ ...options, now: clock.now });
  const follower = settings.factsMaxAgeMs === 0 ? undefined : new FactFollower(table, options);
  const wrong = new Set<string>();
  const end = (id: string): void => {
    follower?.end(id);
    wrong.add(id);
    options.renew(id).catch(options.onFault);
  };
  const drift = createDriftCheck({ ...options, table, end, wrong });
  const existence = new Existence({ ...options, keepMs: settings.factsVerifyMs });
  const narrows = follower !== undefined;
  const verifier = new SourceVerifier({ existence, table, now: clock.now, narrows, end });
  const ignore = options.models.follow({
    changed(after, before) {
      if (before === undefined || after?.described === before.described) return;
      existence.forget(before.id);
      wrong.delete(before.id);
    },
  });
  const read = new AbortController();
  await Promise.race([
    Promise.resolve(follower?.settled()).finally(() => read.abort()),
    sleep(firstReadMs, { clock, signal: read.signal }),
  ]);
  return {
    get version() {
      return table.version;
    },
    select: (plan, how) => selectSources(plan, table, how),
    emptyClauses: (clauses) => emptyClauses(clauses, table),
    facts: ({ id, url }) => table.get(id, url),
    subjectPartition: ({ id, url }) => table.get(id, url)?.partition,
    holders: createHolders(table),
    clauseEstimates: (clauses) => clauseEstimates(clauses, table),
    verifier,
    remove: async (id) => follower?.remove(id),
    answered(id, status) {
      if (status !== 404 && status !== 410) return;
      follower?.end(id);
      existence.forget(id);
    },
    startChecking: () => drift.start(),
    async close() {
      ignore();
      await verifier.close();
      await drift.close();
      follower?.close();
    },
  };
}
