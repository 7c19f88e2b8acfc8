import type { Asker, WholeAnswer } from "../../outbound/whole-answer.ts";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { type Clock, sleep } from "../../clock.ts";
import type { AskedEndpoint } from "../catalog/catalog.ts";
import type { Probe, Table } from "./probes.ts";

/** Bounds of one run and manners towards the endpoint. */
export interface ProbeBounds {
  /** Questions of one run; default 80. */
  readonly questions: number;
  /** Milliseconds of one run; default 5 minutes. */
  readonly totalMs: number;
  /** Milliseconds of one question; default 20 seconds. */
  readonly questionMs: number;
  /** Milliseconds between an answer and the next question; default 250. */
  readonly pauseMs: number;
}

/** Bounds that are polite towards a public endpoint. */
export const defaultBounds: ProbeBounds = { questions: 80, totalMs: 300_000, questionMs: 20_000, pauseMs: 250 };

/** The outcome of one question. */
export type Asked =
  | { readonly answer: WholeAnswer; readonly error?: undefined; readonly durationMs: number }
  | { readonly answer?: undefined; readonly error: FedwayError; readonly durationMs: number };

/** How a question is put. */
export interface Asking {
  readonly table: Table;
  readonly method?: AskedEndpoint["method"] | undefined;
  readonly accept?: string | undefined;
  /** Default 1,000. */
  readonly maxRows?: number;
}

/** Ends a run early; what was found until then counts. */
export class StopProbing extends Error {
  override readonly name = "StopProbing";
}

interface ProbeSessionOptions {
  readonly asker: Pick<Asker, "ask">;
  readonly clock: Clock;
  readonly endpoint: AskedEndpoint;
  readonly signal: AbortSignal;
  readonly bounds: ProbeBounds;
}

const maxBytes = 16 * 1024 * 1024;

/** One question after the other to one endpoint, within the bounds. */
export class ProbeSession {
  readonly #options: ProbeSessionOptions;
  readonly #endsMs: number;
  #questions = 0;

  constructor(options: ProbeSessionOptions) {
    this.#options = options;
    this.#endsMs = options.clock.now() + options.bounds.totalMs;
  }

  /**
   * Fails with nothing but the end of the run.
   * @throws StopProbing when the budget is spent, FedwayError `CANCELLED` when the signal is aborted
   */
  async ask(probe: Probe, { table, method, accept, maxRows = 1000 }: Asking): Promise<Asked> {
    const { asker, clock, endpoint, signal, bounds } = this.#options;
    if (this.#questions > 0) await pause(this.#options);
    const leftMs = this.#endsMs - clock.now();
    if (this.#questions >= bounds.questions || leftMs <= 0) throw new StopProbing("The budget of the run is spent.");
    this.#questions += 1;
    const startedMs = clock.now();
    try {
      const answer = await asker.ask({
        endpoint: { ...endpoint, method: method ?? endpoint.method },
        query: probe.query(table),
        kind: probe.kind,
        accept,
        signal,
        timeoutMs: Math.min(bounds.questionMs, leftMs),
        maxRows,
        maxBytes,
      });
      return { answer, durationMs: answer.durationMs };
    } catch (thrown) {
      if (signal.aborted) throw cancelled(signal);
      return { error: toFedwayError(thrown), durationMs: clock.now() - startedMs };
    }
  }
}

function cancelled({ reason }: AbortSignal): FedwayError {
  return reason instanceof FedwayError ? reason : new FedwayError("CANCELLED", "The probing was cancelled.");
}

/** @throws FedwayError `CANCELLED` when the signal aborts meanwhile */
async function pause({ clock, signal, bounds }: ProbeSessionOptions): Promise<void> {
  if (bounds.pauseMs > 0) await sleep(bounds.pauseMs, { clock, signal });
  if (signal.aborted) throw cancelled(signal);
}
