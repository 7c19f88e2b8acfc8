import { LRUCache } from "lru-cache";
import { Type } from "typebox";
import { type Clock, sleep } from "../clock.ts";
import type { Asker } from "../outbound/whole-answer.ts";
import type { KnownSources } from "../plan/plan-request.ts";
import { clauseEstimates, emptyClauses } from "./clause-facts.ts";
import { createDriftCheck, type DriftOptions } from "./check-drift.ts";
import { Existence } from "./existence.ts";
import { FactTable } from "./fact-table.ts";
import { createHolders } from "./holders.ts";
import { FactFollower, type FollowedParts } from "./follow-facts.ts";
import { selectSources } from "./select-sources.ts";
import { SourceVerifier } from "./source-verifier.ts";
import { createCollection } from "../store/collection.ts";

/** Options of opening sources. */
interface SourcesOptions extends FollowedParts, Pick<DriftOptions, "isOwn"> {
  readonly asker: Pick<Asker, "ask">;
  readonly catalog: FollowedParts["catalog"] & DriftOptions["catalog"];
  /** Names the data that this process hosts under a URL now, where these cannot change. */
  readonly buildOf?: ((url: string) => string | undefined) | undefined;
  /** Has an endpoint described anew whose facts were found to be wrong. */
  readonly renew: (id: string) => Promise<unknown>;
  readonly settings: FollowedParts["settings"] &
    DriftOptions["settings"] & {
      /** Milliseconds for which facts count as verified by a number of triples. */
      readonly factsVerifyMs: number;
      /** Age from which answers have a note on the facts that they leave endpoints out by. */
      readonly factsNoteMs: number;
    };
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
  /** Notes the status of a request that failed: facts about a missing endpoint prove nothing until it is described again. */
  refused(id: string, status: number): void;
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
  const changes = followChanges(options);
  const end = (id: string): void => {
    follower?.end(id);
    if (!wrong.has(id)) changes.note(id);
    wrong.add(id);
    options.renew(id).catch(options.onFault);
  };
  const existence = new Existence({ ...options, keepMs: settings.factsVerifyMs });
  const facts = { existence, table, end, hasChanged: changes.hasChanged };
  const oldMs = settings.factsNoteMs;
  const verifier = new SourceVerifier({ ...facts, now: clock.now, narrows: follower !== undefined, oldMs });
  const drift = createDriftCheck({ ...options, table, end, wrong, verifier });
  const ignore = options.models.follow((id, after, before) => {
    if (before === undefined || after?.described === before.described) return;
    existence.forget(id);
    wrong.delete(id);
  });
  await firstOf(Promise.all([follower?.settled(), changes.settled]), clock);
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
    async remove(id) {
      await Promise.all([follower?.remove(id), changes.remove(id)]);
    },
    refused(id, status) {
      if (status !== 404 && status !== 410) return;
      follower?.end(id);
      existence.forget(id);
    },
    startChecking: () => drift.start(),
    async close() {
      ignore();
      changes.close();
      await verifier.close();
      await drift.close();
      follower?.close();
    },
  };
}

/** Waits for what is read at the start, but not for long. */
async function firstOf(read: Promise<unknown>, clock: Clock): Promise<void> {
  const ended = new AbortController();
  await Promise.race([read.finally(() => ended.abort()), sleep(firstReadMs, { clock, signal: ended.signal })]);
}

/** A change of an endpoint's data is remembered for so long. */
const changedMs = 86_400_000;
const mostChanged = 10_000;

/**
 * When endpoints were last seen to have changed under their facts. Kept in the store for a day, so that all processes and the
 * next start know; of one that could not be written, this process alone does.
 */
function followChanges({ store, clock, onFault }: Pick<SourcesOptions, "store" | "clock" | "onFault">) {
  const changes = createCollection({
    store,
    prefix: "changed/",
    schema: Type.Object({ format: Type.Literal(1), at: Type.Number() }),
    removesInvalid: true,
    lost: "Answers no longer say that the endpoint has changed within a day.",
  });
  const seen = new LRUCache<string, number>({ max: mostChanged });
  const read = async (): Promise<void> => {
    for await (const [id, { at }] of changes.entries()) seen.set(id, at);
  };
  const readOne = async (id: string): Promise<void> => {
    const change = await changes.get(id);
    if (change === undefined) seen.delete(id);
    else seen.set(id, change.at);
  };
  const ignore = changes.watch((change) => void (change ? readOne(change.key) : read()).catch(onFault));
  return {
    settled: read().catch(onFault),
    hasChanged: (id: string): boolean => clock.now() - (seen.get(id) ?? Number.NEGATIVE_INFINITY) < changedMs,
    note(id: string): void {
      const at = clock.now();
      seen.set(id, at);
      changes.put(id, { format: 1, at }, { ttlMs: changedMs }).catch(onFault);
    },
    /** @throws FedwayError `STORE_FAILED` */
    async remove(id: string): Promise<void> {
      seen.delete(id);
      await changes.delete(id);
    },
    close: ignore,
  };
}
