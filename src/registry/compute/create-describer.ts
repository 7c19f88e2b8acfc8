import { FedwayError } from "../../errors/fedway-error.ts";
import type { Clock } from "../../clock.ts";
import type { Asker } from "../catalog/asking.ts";
import type { VoidDescription } from "../void/void-description.ts";
import { createAgenda } from "./agenda.ts";
import { doChores } from "./chores.ts";
import { withClaims } from "./claims.ts";
import { buildDescription } from "./description-builder.ts";
import { noDistinct, repeatedTriples, settleDoubt } from "./distinct.ts";
import type { DescribeBudget, DescribeOptions, Describer, DescribeTarget } from "./describer.ts";
import { restoredFacts } from "./fact-base.ts";
import { families } from "./families.ts";
import { climb } from "./ladder.ts";
import { startList } from "./lists.ts";
import { turnToNamedGraphs } from "./named-graphs.ts";
import { isNothingMissing } from "./plan.ts";
import { probe } from "./probing.ts";
import { reconcile } from "./reconcile.ts";
import { type Run, silentLoss } from "./run.ts";
import { openSession } from "./session.ts";
import { StopRun } from "./stop-run.ts";

/** What a describer works with. */
export interface DescriberOptions {
  readonly asker: Asker;
  /** Milliseconds since the epoch. */
  readonly clock: Clock;
  /** Pause between two requests to one endpoint; default 250, 0 for endpoints that this process hosts. */
  readonly pauseMs?: number;
  /** Longest wait for one answer; default 60,000. */
  readonly queryTimeoutMs?: number;
  /** What a run may cost unless its caller says otherwise; default 1,000 requests, 1 hour, 512 MiB. */
  readonly budget?: DescribeBudget;
  /** Requests between two checkpoints; default 10. */
  readonly checkpointEvery?: number;
}

const defaultBudget = { requests: 1000, ms: 3_600_000, bytes: 512 * 1024 * 1024 } as const;

/** Creates the describer; it keeps no state between runs. */
export function createDescriber(options: DescriberOptions): Describer {
  return { describe: (target, wish) => describe(options, target, wish) };
}

async function describe(
  options: DescriberOptions,
  target: DescribeTarget,
  wish: DescribeOptions,
): Promise<VoidDescription> {
  const { run, snapshot } = startRun(options, target, wish);
  try {
    await work(run);
  } catch (thrown) {
    if (!(thrown instanceof StopRun)) throw thrown;
    if (thrown.reason === "cancelled") {
      await wish.onCheckpoint?.(snapshot());
      throw new FedwayError("CANCELLED", "The description was cancelled.", { cause: thrown });
    }
  }
  return snapshot();
}

/** The stages, in the order of their use to an agent: lists, what classes have, counts and the rest. */
async function work(run: Run): Promise<void> {
  if (isNothingMissing(run.base, climbed, run.agenda)) {
    for (const family of climbed) run.agenda.closeFamily(family);
    return;
  }
  const perform = async (stage: string, action: () => Promise<void>): Promise<void> => {
    run.progress(stage, 0, 1);
    await action();
    reconcile(run.base, run.agenda);
  };
  await perform("probes", () => probe(run));
  let classes = await startList(run, families.classes);
  if (await turnToNamedGraphs(run)) classes = await startList(run, families.classes);
  while (await settleDoubt(run, classes.observation)) classes = await startList(run, families.classes);
  await perform("classes", classes.finish);
  const properties = await startList(run, families.properties);
  // Counts of properties that need many queries come after what agents use first.
  if (properties.light) await perform("properties", properties.finish);
  else for (const family of ofClasses) await perform(family.phrase, () => climb(run, family));
  if (!properties.light) await perform("properties", properties.finish);
  // The second time for classes and properties that the first has brought to light.
  for (const family of [...climbed, ...climbed]) await perform(family.phrase, () => climb(run, family));
  for (const family of Object.values(families)) run.agenda.closeFamily(family);
  await perform("nodes, languages and namespaces", () => doChores(run));
  run.progress("done", 1, 1);
}

const ofClasses = [families.classProperties, families.classDatatypes, families.classObjectClasses] as const;

const climbed = [
  families.classes,
  families.properties,
  ...ofClasses,
  families.propertyDatatypes,
  families.propertyObjectClasses,
] as const;

interface StartedRun {
  readonly run: Run;
  readonly snapshot: () => VoidDescription;
}

function startRun(options: DescriberOptions, target: DescribeTarget, wish: DescribeOptions): StartedRun {
  const { clock } = options;
  const { known, signal } = wish;
  const agenda = createAgenda(known);
  const base = restoredFacts(known, "measured");
  const claims = restoredFacts(known, "claimed");
  const startedAt = known?.unfinished === true ? known.startedAt : new Date(clock.now()).toISOString();
  const every = options.checkpointEvery ?? 10;
  let sinceCheckpoint = 0;
  const session = openSession({
    asker: options.asker,
    clock,
    endpoint: target.endpoint,
    signal,
    pauseMs: options.pauseMs ?? 250,
    queryTimeoutMs: options.queryTimeoutMs ?? 60_000,
    budget: { ...defaultBudget, ...options.budget, ...wish.budget },
    records: known?.records ?? [],
    afterEach: async () => {
      if (++sinceCheckpoint < every || wish.onCheckpoint === undefined) return;
      sinceCheckpoint = 0;
      await wish.onCheckpoint(snapshot());
    },
  });
  const snapshot = (): VoidDescription => {
    reconcile(base, agenda);
    const { shown, contradicted } = withClaims(base, claims);
    for (const fact of contradicted) agenda.note(fact);
    const { requests, bytes, ms } = session.spent;
    const before = known?.cost ?? { requests: 0, bytes: 0, ms: 0 };
    return buildDescription(shown, {
      endpoint: target.endpoint.url,
      ...(target.endpoint.id !== undefined && { id: target.endpoint.id }),
      dataset: target.dataset ?? known?.dataset ?? `${target.endpoint.url}#dataset`,
      ...(known && { known }),
      startedAt,
      finishedAt: new Date(clock.now()).toISOString(),
      unfinished: agenda.unfinished,
      unknown: agenda.unknown(),
      records: session.records,
      cost: { requests: before.requests + requests, bytes: before.bytes + bytes, ms: before.ms + ms },
    });
  };
  return { run: createRun({ target, wish, session, base, claims, agenda }), snapshot };
}

/** Characters of IRIs that fit into a query; those of a GET grow by encoding. */
function textBound({ endpoint, capabilities }: DescribeTarget): number {
  return endpoint.method === "get" ? Math.max(500, (capabilities?.maxUrlBytes ?? 8192) / 2 - 500) : 60_000;
}

function createRun({
  target,
  wish,
  ...parts
}: Pick<Run, "target" | "session" | "base" | "claims" | "agenda"> & { readonly wish: DescribeOptions }): Run {
  const { capabilities } = target;
  const cap = target.rowCap ?? capabilities?.rowCap;
  return {
    ...parts,
    target,
    dialect: {
      count: true,
      values: true,
      graphs: [],
      named: parts.base.namedGraphs.size > 0 && !parts.agenda.isOpen("graph list"),
      repeats: parts.agenda.has(repeatedTriples),
      countDistinct: !parts.agenda.has(noDistinct),
    },
    cap,
    uncapped: false,
    mostKeys: Math.min(500, capabilities?.maxValuesRows ?? 500),
    mostText: textBound(target),
    rowsSeen: 0,
    sliced: 0,
    lies: parts.agenda.has(silentLoss),
    lieWork: Number.POSITIVE_INFINITY,
    limit: 10_000,
    heavy: new Map(),
    tooMuch: new Map(),
    listTotals: new Map(),
    best: new Map(),
    progress: (stage, done, total) => {
      const { requests, bytes } = parts.session.spent;
      const { classes, properties } = parts.base;
      const figures = { requests, bytes, classes: classes.size, properties: properties.size };
      wish.onProgress?.({ stage, done, total, figures });
    },
  };
}
