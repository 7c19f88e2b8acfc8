import type { Readable } from "node:stream";
import type { PlanDescription, RunStatus } from "../query/query-service.ts";

/** What `fedway query` and `fedway explain` ask for. */
export interface Asked {
  readonly text: string;
  readonly endpoint: string | undefined;
  readonly format: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly partial: boolean;
  readonly strict: boolean;
}

/** An answer on its way. */
export interface Delivery {
  readonly body: Buffer | Readable;
  readonly notes: readonly string[];
  /** Asked once the body has ended; undefined when the final status is not known. */
  finalStatus(): Promise<RunStatus | undefined>;
}

/** Where queries are run: in this process or by a running service. */
export interface Runner {
  /** @throws FedwayError, RemoteProblem */
  run(asked: Asked, signal: AbortSignal): Promise<Delivery>;
  /** @throws FedwayError, RemoteProblem */
  explain(asked: Asked, signal: AbortSignal): Promise<PlanDescription>;
  close(): Promise<void>;
}
