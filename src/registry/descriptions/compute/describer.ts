import type { Asker } from "../../../outbound/whole-answer.ts";
import type { JobProgress } from "../../../jobs/job-queue.ts";
import type { AskedEndpoint, CatalogEntry } from "../../catalog/catalog.ts";
import type { Capabilities } from "../../capabilities/capabilities.ts";
import type { VoidDescription } from "../void-description.ts";
import { FedwayError } from "../../../errors/fedway-error.ts";
import type { Clock } from "../../../clock.ts";
import { Todo } from "./todo.ts";
import { computeDatasetFacts } from "./dataset-facts.ts";
import { buildDescription } from "./description-builder.ts";
import { listGraphsBeside, noDistinct, repeatedTriples, settleDoubt, turnToNamedGraphs, probe } from "./probing.ts";
import { readWhole } from "./read-whole.ts";
import { restoredFacts, withClaims } from "./fact-base.ts";
import type { ReadTriple } from "./triple-facts.ts";
import { factKinds } from "./fact-kinds.ts";
import { askAll, computeFacts, keepAnswer } from "./compute-facts.ts";
import { computeTermTexts } from "./term-labels.ts";
import { startList } from "./lists.ts";
import { inconsistentAnswers, missingKeys } from "./verdicts/keys.ts";
import { reconcile } from "./verdicts/reconcile.ts";
import { noteChange, proveLists } from "./verdicts/totals.ts";
import type { Run } from "./run.ts";
import { Session, StopRun } from "./session.ts";

/** The endpoint to describe, and known facts about its behaviour. */
export interface DescribeTarget {
  readonly endpoint: AskedEndpoint;
  /** IRI that names the dataset in the description; default `<endpoint url>#dataset`. */
  readonly dataset?: string | undefined;
  /** Rows after which answers are known to be cut. */
  readonly rowCap?: number | undefined;
  /** Results of the capability probes; spares repeating them. */
  readonly capabilities?: Capabilities | undefined;
}

/**
 * A catalogue entry as it is described; its dataset is named below the service's own URL.
 * @throws FedwayError `REQUEST_INVALID` when its interface cannot be asked
 */
export function targetOf(entry: CatalogEntry, publicUrl: string) {
  const { id, url, method, rowCap } = entry;
  if (entry.interface !== "sparql") {
    const reason = `"${id}" has the interface ${entry.interface}; it cannot be asked for a description.`;
    throw new FedwayError("REQUEST_INVALID", reason);
  }
  return { endpoint: { id, url, method }, dataset: `${publicUrl}/endpoints/${id}#dataset`, rowCap };
}

/**
 * How much work one run may be; default 1,000 requests, 1 hour, 512 MiB. A run needs about 20 requests to find out
 * something that the next one need not ask again.
 */
export interface DescribeBudget {
  /** HTTP requests. */
  readonly requests?: number;
  /** Milliseconds of the whole run, pauses included. */
  readonly ms?: number;
  /** Decoded bytes of answers. */
  readonly bytes?: number;
}

/** Circumstances of one run. */
export interface DescribeOptions {
  readonly signal: AbortSignal;
  readonly budget?: DescribeBudget | undefined;
  /** A retrieved description or a checkpoint of an earlier run: its facts are not asked again. */
  readonly known?: VoidDescription | undefined;
  /** End once classes and properties are listed, unless the endpoint is small enough to be read whole. */
  readonly onlyLists?: boolean | undefined;
  readonly onProgress?: ((progress: JobProgress) => void) | undefined;
  /** Gets all triples of an endpoint that is described from them, once they were found to be all. */
  readonly onTriples?: ((triples: readonly ReadTriple[]) => void) | undefined;
  /** Gets the description so far every few requests and at the end of an aborted run; a later run goes on from it. */
  readonly onCheckpoint?: (description: VoidDescription) => void | Promise<void>;
}

interface DescriberOptions {
  readonly asker: Asker;
  /** Milliseconds since the epoch. */
  readonly clock: Clock;
  /** Pause between two requests to one endpoint; default 250, 0 for endpoints that this process hosts. */
  readonly pauseMs?: number | undefined;
  /** Longest wait for one answer; default 60,000. */
  readonly queryTimeoutMs?: number;
  /** Endpoints with at most this number of triples are read whole; default 20,000, 0: none. */
  readonly readTriples?: number | undefined;
  /** Requests between two checkpoints; default 10. */
  readonly checkpointEvery?: number;
}

const defaultBudget = { requests: 1000, ms: 3_600_000, bytes: 512 * 1024 * 1024 } as const;

/** Computes the missing facts of a dataset's description by asking its endpoint (registry method, section 3). */
export type Describer = ReturnType<typeof createDescriber>;

/** Creates the describer; it keeps no state between runs. */
export function createDescriber(options: DescriberOptions) {
  return {
    /**
     * Resolves also when the endpoint fails: findings stay, `unfinished` says that a later run should go on.
     * No count is "exact" and no list complete unless two independent ways agree.
     * @throws FedwayError `CANCELLED` when the signal aborts, after a last checkpoint; `ADDRESS_REFUSED`
     */
    async describe(target: DescribeTarget, runOptions: DescribeOptions): Promise<VoidDescription> {
      const { run, snapshot } = startRun({ ...options, ...runOptions, target });
      try {
        await computeAll(run, { readTriples: options.readTriples ?? 20_000, ...runOptions });
      } catch (thrown) {
        if (!(thrown instanceof StopRun)) throw thrown;
        if (thrown.reason === "cancelled") {
          await runOptions.onCheckpoint?.(snapshot());
          throw new FedwayError("CANCELLED", "The description was cancelled.", { cause: thrown });
        }
      }
      return snapshot();
    },
  };
}

interface ComputeOptions extends Pick<DescribeOptions, "onTriples" | "onlyLists"> {
  readonly readTriples: number;
}

/** The stages, in the order of their use: lists and what classes have, which selection goes by, then the rest. */
async function computeAll(run: Run, { readTriples, onTriples, onlyLists }: ComputeOptions): Promise<void> {
  if (!run.todo.hasTasks && !isAnyKeyMissing(run)) {
    for (const kind of computedKinds) run.todo.closeKind(kind);
    return;
  }
  const perform: Perform = async (stage, action) => {
    run.progress(stage, 0, 1);
    await action();
    reconcile(run.base, run.todo);
  };
  let read: readonly ReadTriple[] | undefined;
  await perform("all triples", async () => {
    read = await readWhole(run, readTriples);
    if (read !== undefined) onTriples?.(read);
  });
  const isListed = !run.todo.isOpen("class list") && !run.todo.isOpen("property list");
  if (isListed && !isAnyKeyMissing(run)) for (const kind of computedKinds) run.todo.closeKind(kind);
  else await computeByQueries(run, perform, onlyLists);
  await perform("named graphs", () => listGraphsBeside(run));
  await perform("labels of classes and properties", () => computeTermTexts(run, read !== undefined));
  if (read === undefined) await perform("nodes, languages and namespaces", () => computeDatasetFacts(run));
  run.progress("done", 1, 1);
}

const isAnyKeyMissing = ({ base, todo }: Run): boolean =>
  computedKinds.some((kind) => missingKeys(base, kind, todo).length > 0);

type Perform = (stage: string, action: () => Promise<void>) => Promise<void>;

/**
 * Of an endpoint that is too large to be read, or whose answers do not agree. Two grouped queries and a count come first, which
 * give what selection needs of an endpoint that allows them; then they are verified.
 */
async function computeByQueries(run: Run, perform: Perform, onlyLists = false): Promise<void> {
  await perform("probes", () => probe(run));
  let classes = await startList(run, factKinds.classes);
  if (await turnToNamedGraphs(run)) classes = await startList(run, factKinds.classes);
  while (await settleDoubt(run, classes.observation)) classes = await startList(run, factKinds.classes);
  keepAnswer(run, factKinds.classes, classes.observation);
  const properties = await startList(run, factKinds.properties);
  keepAnswer(run, factKinds.properties, properties.observation);
  await proveLists(run, classes, properties);
  await run.checkpoint();
  if (onlyLists) throw new StopRun("lists");
  const ofClass = await askAll(run, factKinds.classProperties);
  await run.checkpoint();
  await perform("classes", classes.finish);
  const finish = () => perform("properties", properties.finish);
  // Counts of properties that need many queries come after what agents use first.
  if (properties.light) await finish();
  await perform(factKinds.classProperties.phrase, () => computeFacts(run, factKinds.classProperties, ofClass));
  await run.checkpoint();
  if (!properties.light) {
    for (const kind of ofClasses) await perform(kind.phrase, () => computeFacts(run, kind));
    await finish();
  }
  // The second time for classes and properties that the first has brought to light.
  for (const kind of [...computedKinds, ...computedKinds]) await perform(kind.phrase, () => computeFacts(run, kind));
  await noteChange(run, factKinds.properties);
  for (const kind of computedKinds) run.todo.closeKind(kind);
}

const ofClasses = [factKinds.classProperties, factKinds.classDatatypes, factKinds.classObjectClasses] as const;

const computedKinds = [
  factKinds.classes,
  factKinds.properties,
  ...ofClasses,
  factKinds.propertyDatatypes,
  factKinds.propertyObjectClasses,
] as const;

type StartOptions = DescriberOptions & DescribeOptions & { readonly target: DescribeTarget };

function startRun(options: StartOptions) {
  const { clock, target, known, onCheckpoint, checkpointEvery = 10 } = options;
  const todo = new Todo(known);
  const base = restoredFacts(known, "measured");
  const claims = restoredFacts(known, "claimed");
  const startedAt = known?.unfinished === true ? known.startedAt : new Date(clock.now()).toISOString();
  let sinceCheckpoint = 0;
  const checkpoint = async () => {
    if (sinceCheckpoint === 0) return;
    sinceCheckpoint = 0;
    await onCheckpoint?.(snapshot());
  };
  const session = new Session({
    asker: options.asker,
    clock,
    endpoint: target.endpoint,
    signal: options.signal,
    pauseMs: options.pauseMs ?? 250,
    queryTimeoutMs: options.queryTimeoutMs ?? 60_000,
    budget: { ...defaultBudget, ...options.budget },
    records: known?.records ?? [],
    afterEach: async () => {
      if (++sinceCheckpoint >= checkpointEvery) await checkpoint();
    },
  });
  const snapshot = (): VoidDescription => {
    reconcile(base, todo);
    const { shown, lacking } = withClaims(base, claims);
    for (const fact of lacking) todo.note({ ...fact, why: "contradicted" });
    const { requests, bytes, ms } = session.spent;
    const before = known?.cost ?? { requests: 0, bytes: 0, ms: 0 };
    return buildDescription(shown, {
      endpoint: target.endpoint.url,
      id: target.endpoint.id,
      dataset: target.dataset ?? known?.dataset ?? `${target.endpoint.url}#dataset`,
      known,
      startedAt,
      finishedAt: new Date(clock.now()).toISOString(),
      unfinished: todo.unfinished,
      unknown: todo.unknown(),
      records: session.records,
      cost: { requests: before.requests + requests, bytes: before.bytes + bytes, ms: before.ms + ms },
    });
  };
  return { run: createRun({ target, session, base, claims, todo, checkpoint }, options.onProgress), snapshot };
}

function createRun(
  parts: Pick<Run, "target" | "session" | "base" | "claims" | "todo" | "checkpoint">,
  onProgress: DescribeOptions["onProgress"],
): Run {
  const { target, base, todo, session } = parts;
  const { capabilities } = target;
  return {
    ...parts,
    dialect: {
      count: true,
      values: true,
      graphs: [],
      named: base.namedGraphs.size > 0 && !base.graphsBeside && !todo.isOpen("graph list"),
      repeats: todo.has(repeatedTriples),
      countDistinct: !todo.has(noDistinct),
    },
    cap: target.rowCap ?? capabilities?.rowCap,
    wholeRows: 0,
    mostKeys: Math.min(500, capabilities?.maxValuesRows ?? 500),
    mostText: maxTextOf(target),
    rowsSeen: 0,
    inconsistent: todo.has(inconsistentAnswers),
    inconsistentFrom: Number.POSITIVE_INFINITY,
    limit: 10_000,
    heavy: new Map(),
    tooMuch: new Map(),
    listTotals: new Map(),
    progress: (stage, done, total) => {
      const { requests, bytes } = session.spent;
      const { classes, properties } = base;
      const figures = { requests, bytes, classes: classes.size, properties: properties.size };
      onProgress?.({ stage, done, total, figures });
    },
  };
}

/** Characters of IRIs that fit into a query; those of a GET grow by encoding. */
function maxTextOf({ endpoint, capabilities }: DescribeTarget): number {
  return endpoint.method === "get" ? Math.max(500, (capabilities?.maxUrlBytes ?? 8192) / 2 - 500) : 60_000;
}
