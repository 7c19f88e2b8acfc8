import type { Clock } from "../../../clock.ts";
import type { VoidDescription } from "../void-description.ts";
import type { RetrievedVoid, VoidRetriever } from "../void-retriever.ts";
import type { Describer, DescribeOptions, DescribeTarget } from "./describer.ts";
import { buildDescription } from "./description-builder.ts";
import { emptyFacts } from "./fact-base.ts";
import { Todo } from "./todo.ts";

/** Parts that a run works with. */
interface RunParts {
  /** Absent: the publisher's description is not looked for. */
  readonly retriever?: VoidRetriever | undefined;
  readonly describer: Describer;
  readonly clock: Pick<Clock, "now">;
  readonly target: RunTarget;
}

/** The endpoint to describe, and the IRI of its dataset. */
export type RunTarget = DescribeTarget & { readonly dataset: string };

/** Circumstances of a run; its budget includes the search for the publisher's description. */
interface RunOptions extends DescribeOptions {
  /** Called after that search; what it throws ends the run. */
  readonly onRetrieved?: (retrieved: RetrievedVoid) => void;
  /** Called with the description; what it throws is a failure of the run. */
  readonly onDescribed?: (description: VoidDescription) => Promise<void> | void;
}

/** The end of a run. */
interface FinishedRun {
  /** Findings, also of a run that failed half-way. */
  readonly description: VoidDescription;
  /** Absent when the publisher's description was not looked for. */
  readonly retrieved?: RetrievedVoid | undefined;
  /** Error that ended the run. */
  readonly failure?: unknown;
}

/** Looks for the publisher's description, unless something is known already, then computes the missing facts. Never throws. */
export async function runDescription(
  { retriever, describer, clock, target }: RunParts,
  { onRetrieved, onDescribed, ...options }: RunOptions,
): Promise<FinishedRun> {
  const { signal, budget, onProgress, onCheckpoint } = options;
  const startedMs = clock.now();
  let latest = options.known ?? emptyDescription(target, startedMs);
  let retrieved: RetrievedVoid | undefined;
  try {
    if (options.known === undefined && retriever !== undefined) {
      onProgress?.({ stage: "looking for the publisher's description", done: 0 });
      retrieved = await retriever.retrieve(target, { signal, budget });
      const { description, records, cost } = retrieved;
      latest = description ?? { ...latest, finishedAt: new Date(clock.now()).toISOString(), records, cost };
      onRetrieved?.(retrieved);
    }
    latest = await describer.describe(target, {
      ...options,
      known: latest,
      budget: budgetLeft(budget, retrieved?.cost),
      async onCheckpoint(checkpoint) {
        latest = checkpoint;
        await onCheckpoint?.(checkpoint);
      },
    });
    await onDescribed?.(latest);
    return { description: latest, retrieved };
  } catch (failure) {
    return { description: { ...latest, unfinished: true }, retrieved, failure };
  }
}

function budgetLeft(
  budget: DescribeOptions["budget"],
  cost: RetrievedVoid["cost"] | undefined,
): DescribeOptions["budget"] {
  if (budget === undefined || cost === undefined) return budget;
  const { requests, ms, bytes } = budget;
  return {
    ...(requests !== undefined && { requests: requests - cost.requests }),
    ...(ms !== undefined && { ms: ms - cost.ms }),
    ...(bytes !== undefined && { bytes: bytes - cost.bytes }),
  };
}

/** A description of which nothing is known yet and everything is left to do. */
function emptyDescription({ endpoint, dataset }: RunTarget, startedMs: number): VoidDescription {
  const startedAt = new Date(startedMs).toISOString();
  return buildDescription(emptyFacts(), {
    endpoint: endpoint.url,
    id: endpoint.id,
    dataset,
    known: undefined,
    startedAt,
    finishedAt: startedAt,
    unfinished: true,
    // A description without work that is left would be taken for a finished one.
    unknown: new Todo().unknown(),
    records: [],
    cost: { requests: 0, bytes: 0, ms: 0 },
  });
}
