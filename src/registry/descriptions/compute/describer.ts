import type { Asker } from "../../../outbound/whole-answer.ts";
import type { JobProgress } from "../../../jobs/job-queue.ts";
import type { AskedEndpoint, CatalogEntry } from "../../catalog/catalog.ts";
import type { Capabilities } from "../../capabilities/capabilities.ts";
import type { VoidDescription } from "../void-description.ts";
import { FedwayError } from "../../../errors/fedway-error.ts";
import type { Clock } from "../../../clock.ts";
import { Todo } from "./todo.ts";
import { describedFacts, emptyFacts, hasClaims, type FactBase, restoredFacts } from "./fact-base.ts";
import { computeDatasetFacts, computeTermTexts } from "./dataset-facts.ts";
import {
  chooseGraphs,
  listGraphsBeside,
  noDistinct,
  repeatedTriples,
  settleDoubt,
  turnToNamedGraphs,
  probe,
} from "./probing.ts";
import { findPropertyTerms, type PropertyTerms } from "./property-terms.ts";
import { type ReadTriple, readWhole } from "./read-whole.ts";
import { type FactKind, factKinds } from "./fact-kinds.ts";
import type { Observation } from "./observation.ts";
import type { Dialect } from "./queries.ts";
import { askAll, computeFacts, keepAnswer } from "./compute-facts.ts";
import { finishList, type StartedList, startList } from "./lists.ts";
import { reconcile } from "./reconcile.ts";
import { inconsistentAnswers, missingKeys, noteChange, verifyLists } from "./verdicts.ts";
import { checkpoint, describedBy, type Run, Session, StopRun } from "./run.ts";

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

/** The endpoint to describe, and the IRI of its dataset. */
export type RunTarget = DescribeTarget & { readonly dataset: string };

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
 * How much work one run may be; default 1,000 requests, 1 hour, 40 MB. A run needs about 20 requests to find out
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
  /** Takes the description so far every few requests and at the end of an aborted run; a later run goes on from it. */
  readonly save?: ((description: VoidDescription) => Promise<void>) | undefined;
}

/** Findings of a run. */
export interface Described {
  readonly description: VoidDescription;
  /** All triples of an endpoint that is described from them, once they were found to be all. */
  readonly triples?: readonly ReadTriple[] | undefined;
  /** Terms of each property of another endpoint, as far as they are certain. */
  readonly terms?: ReadonlyMap<string, PropertyTerms> | undefined;
}

interface DescriberOptions {
  readonly asker: Asker;
  /** Milliseconds since the epoch. */
  readonly clock: Clock;
  /** Pause between two requests to one endpoint; default 250, 0 for endpoints that this process hosts. */
  readonly pauseMs?: number | undefined;
  /** Longest wait for one answer; default 60,000. */
  readonly queryTimeoutMs?: number;
  /** Endpoints with at most this number of bytes, as N-Triples, are read whole; default 10,000,000, 0: none. */
  readonly readBytes?: number | undefined;
  /** Requests between two checkpoints; default 10. */
  readonly checkpointEvery?: number;
}

const defaultBudget = { requests: 1000, ms: 3_600_000, bytes: 40_000_000 } as const;

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
    async describe(target: DescribeTarget, runOptions: DescribeOptions): Promise<Described> {
      const run = startRun({ ...options, ...runOptions, target });
      let terms: Described["terms"];
      try {
        terms = await computeAll(run, { readBytes: options.readBytes ?? 10_000_000, ...runOptions });
      } catch (thrown) {
        if (!(thrown instanceof StopRun)) throw thrown;
        if (thrown.reason === "cancelled") {
          await runOptions.save?.(describedBy(run));
          throw new FedwayError("CANCELLED", "The description was cancelled.", { cause: thrown });
        }
      }
      return { description: describedBy(run), triples: run.triples, terms };
    },
  };
}

interface ComputeOptions {
  readonly readBytes: number;
  readonly onlyLists?: boolean | undefined;
}

/** The stages, in the order of their use: lists and what classes have, which selection goes by, then the rest. */
async function computeAll(run: Run, { readBytes, onlyLists }: ComputeOptions): Promise<Described["terms"]> {
  if (!run.todo.hasTasks && !isAnyKeyMissing(run)) {
    for (const kind of computedKinds) run.todo.closeKind(kind);
    return undefined;
  }
  const graphs = await chooseGraphs(run);
  run.progress("all triples", 0, 1);
  run.triples = await readWhole(run, readBytes);
  reconcile(run.base, run.todo);

  const isListed = !run.todo.isOpen("class list") && !run.todo.isOpen("property list");
  if (isListed && !isAnyKeyMissing(run)) for (const kind of computedKinds) run.todo.closeKind(kind);
  else await computeByQueries(run, graphs, onlyLists);

  run.progress("named graphs", 0, 1);
  await listGraphsBeside(run);
  reconcile(run.base, run.todo);

  const isRead = run.triples !== undefined;
  run.progress("labels of classes and properties", 0, 1);
  await computeTermTexts(run, isRead);
  reconcile(run.base, run.todo);

  if (!isRead) {
    run.progress("nodes, languages and namespaces", 0, 1);
    await computeDatasetFacts(run);
    reconcile(run.base, run.todo);
  }
  run.progress("terms of properties", 0, 1);
  const terms = isRead ? undefined : await findPropertyTerms(run);
  run.progress("done", 1, 1);
  return terms;
}

const isAnyKeyMissing = ({ base, todo }: Run): boolean =>
  computedKinds.some((kind) => missingKeys(base, kind, todo).length > 0);

/**
 * Of an endpoint that is too large to be read, or whose answers do not agree. Two grouped queries and a count come first, which
 * give what selection needs of an endpoint that allows them; then they are verified.
 */
async function computeByQueries(run: Run, graphs: number, onlyLists = false): Promise<void> {
  run.progress("probes", 0, 1);
  await probe(run, graphs);
  reconcile(run.base, run.todo);

  let classes = await startList(run, factKinds.classes);
  if (await turnToNamedGraphs(run)) classes = await startList(run, factKinds.classes);
  while (await settleDoubt(run, classes.observation)) classes = await startList(run, factKinds.classes);
  keepAnswer(run, factKinds.classes, classes.observation);
  const properties = await startList(run, factKinds.properties);
  keepAnswer(run, factKinds.properties, properties.observation);
  await verifyLists(run, classes, properties);
  await checkpoint(run);
  if (onlyLists) throw new StopRun("lists");

  // A run that goes on has them from before, as bounds.
  const isKnown = run.base.classes.values().some(({ properties: own }) => own.size > 0);
  const ofClass = isKnown ? undefined : await askAll(run, factKinds.classProperties);
  await checkpoint(run);
  await finish(run, factKinds.classes, classes);
  // Counts of properties that need many queries come after what agents use first.
  if (properties.light) await finish(run, factKinds.properties, properties);
  await compute(run, factKinds.classProperties, ofClass);
  await checkpoint(run);
  if (!properties.light) {
    for (const kind of ofClasses) await compute(run, kind);
    await finish(run, factKinds.properties, properties);
  }
  // The second time for classes and properties that the first has brought to light.
  for (const kind of [...computedKinds, ...computedKinds]) await compute(run, kind);
  await noteChange(run, factKinds.properties);
  for (const kind of computedKinds) run.todo.closeKind(kind);
}

/** A stage: the counts of a list, and whether it is complete. */
async function finish(run: Run, kind: FactKind, list: StartedList): Promise<void> {
  run.progress(kind.name, 0, 1);
  await finishList(run, kind, list);
  reconcile(run.base, run.todo);
}

/** A stage: one kind of facts; `first` is an answer for all keys that is there already. */
async function compute(run: Run, kind: FactKind, first?: Observation): Promise<void> {
  run.progress(kind.phrase, 0, 1);
  await computeFacts(run, kind, first);
  reconcile(run.base, run.todo);
}

const ofClasses = [factKinds.classProperties, factKinds.classDatatypes, factKinds.classObjectClasses] as const;

const computedKinds = [
  factKinds.classes,
  factKinds.properties,
  ...ofClasses,
  factKinds.propertyDatatypes,
  factKinds.propertyObjectClasses,
] as const;

/** A description of which nothing is known yet and everything is left to do. */
export function emptyDescription({ endpoint, dataset }: RunTarget, startedMs: number): VoidDescription {
  const startedAt = new Date(startedMs).toISOString();
  return {
    endpoint: endpoint.url,
    id: endpoint.id,
    dataset,
    startedAt,
    finishedAt: startedAt,
    unfinished: true,
    // A description without work that is left would be taken for a finished one.
    unknown: new Todo().unknown(),
    records: [],
    cost: { requests: 0, bytes: 0, ms: 0 },
    ...describedFacts(emptyFacts(), undefined),
  };
}

type StartOptions = DescriberOptions & DescribeOptions & { readonly target: DescribeTarget };

function startRun(options: StartOptions): Run {
  const { clock, target, known } = options;
  const todo = new Todo(known);
  const base = restoredFacts(known, "measured");
  const session = startSession(options);
  return {
    target,
    clock,
    known,
    startedAt: known?.unfinished === true ? known.startedAt : new Date(clock.now()).toISOString(),
    session,
    base,
    claims: hasClaims(known) ? restoredFacts(known, "claimed") : emptyFacts(),
    todo,
    save: options.save,
    checkpointEvery: options.checkpointEvery ?? 10,
    unsaved: 0,
    triples: undefined,
    dialect: knownDialect(base, todo),
    ...limitsOf(target),
    wholeRows: 0,
    rowsSeen: 0,
    inconsistent: todo.has(inconsistentAnswers),
    inconsistentFrom: Number.POSITIVE_INFINITY,
    limit: 10_000,
    failed: new Map(),
    tooMuch: new Map(),
    listTotals: new Map(),
    progress: (stage, done, total) => {
      const { requests, bytes } = session.spent;
      const { classes, properties } = base;
      const figures = { requests, bytes, classes: classes.size, properties: properties.size };
      options.onProgress?.({ stage, done, total, figures });
    },
  };
}

function startSession(options: StartOptions): Session {
  const { asker, clock, target, signal, known, budget, pauseMs = 250, queryTimeoutMs = 60_000 } = options;
  return new Session({
    asker,
    clock,
    endpoint: target.endpoint,
    signal,
    pauseMs,
    queryTimeoutMs,
    budget: { ...defaultBudget, ...budget },
    formats: target.capabilities?.formats,
    records: known?.records ?? [],
  });
}

/** The endpoint's language as far as earlier runs know it; probes find the rest. */
const knownDialect = (base: FactBase, todo: Todo): Dialect => ({
  count: true,
  values: true,
  graphs: [],
  named: base.namedGraphs.size > 0 && !base.graphsBeside && !todo.isOpen("graph list"),
  repeats: todo.has(repeatedTriples),
  countDistinct: !todo.has(noDistinct),
});

function limitsOf({ endpoint, rowCap, capabilities }: DescribeTarget) {
  const { maxValuesRows = 500, maxUrlBytes = 8192 } = capabilities ?? {};
  // IRIs in the URL of a GET grow by encoding.
  const mostText = endpoint.method === "get" ? Math.max(500, maxUrlBytes / 2 - 500) : 60_000;
  return { cap: rowCap ?? capabilities?.rowCap, mostKeys: Math.min(500, maxValuesRows), mostText };
}
