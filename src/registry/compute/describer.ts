import type { JobProgress } from "../../jobs/job-queue.ts";
import type { AskedEndpoint } from "../catalog/asking.ts";
import type { Capabilities } from "../capabilities/capabilities.ts";
import type { VoidDescription } from "../void/void-description.ts";

/** What is described, and what is already known of how its endpoint behaves. */
export interface DescribeTarget {
  readonly endpoint: AskedEndpoint;
  /** IRI that names the dataset in the description; default `<endpoint url>#dataset`. */
  readonly dataset?: string;
  /** `fedway:engine` of the catalogue entry; "virtuoso" makes its system graphs be left out. */
  readonly engine?: string;
  /** Rows after which answers are known to be cut. */
  readonly rowCap?: number;
  /** What the probes found; spares asking the same again. */
  readonly capabilities?: Capabilities;
}

/**
 * How much work one run may be; what is not said has the describer's default. A run needs about 20 requests to find out
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
  readonly budget?: DescribeBudget;
  /** A retrieved description or a checkpoint of an earlier run: what it has is not asked again. */
  readonly known?: VoidDescription;
  readonly onProgress?: (progress: JobProgress) => void;
  /** Gets the description so far every few requests and at the end of an aborted run; a later run goes on from it. */
  readonly onCheckpoint?: (description: VoidDescription) => void | Promise<void>;
}

/** Computes what is missing in a dataset's description by asking its endpoint (registry method, section 3). */
export interface Describer {
  /**
   * Resolves also when the endpoint fails: what was found stays, `unfinished` says that a later run should go on.
   * No count is "exact" and no list complete unless two independent ways agree.
   * @throws FedwayError `CANCELLED` when the signal aborts, after a last checkpoint; `ADDRESS_REFUSED`
   */
  describe(target: DescribeTarget, options: DescribeOptions): Promise<VoidDescription>;
}
