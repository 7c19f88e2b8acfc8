import { steadyClock } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { RequestBudget } from "../outbound/request-budget.ts";
import { FairQueue } from "../workers/fair-queue.ts";

/** How many calls may be under way, and how many may wait for that. */
interface AdmissionOptions {
  readonly maxConcurrent: number;
  /** Calls that wait, and the characters of all their texts; default 5 for each that may run, and 32 Mi. */
  readonly maxWaiting?: number;
  readonly maxWaitingCharacters?: number;
  /** Longest wait in milliseconds; default 3,000. */
  readonly maxWaitMs?: number;
  /** Requests to endpoints of one call; default 2,000. */
  readonly callRequests?: number;
  /** Called with the wait of each call that was not let in at once, in milliseconds. */
  readonly onWaited?: (ms: number) => void;
  /** Called for each refused call. */
  readonly onBusy?: () => void;
  /** Called before a call is let in, which it may refuse; undefined: at once. */
  readonly onEnter?: (client: string) => Promise<void> | undefined;
  /** Called when a call ends, with what it has cost. */
  readonly onLeave?: (client: string, cost: CallCost) => void;
}

/** What a call has cost: requests sent to endpoints, rows of its answers, time under way. */
interface CallCost {
  readonly requests: number;
  readonly rows: number;
  readonly seconds: number;
}

/** A call that asks to be let in. */
export interface Entrant {
  /** Whose call it is. */
  readonly client?: string | undefined;
  /** Length of its text. */
  readonly characters: number;
  /** Milliseconds that it would wait. */
  readonly timeoutMs: number;
  /** Aborted when nobody wants the answer any more. */
  readonly signal: AbortSignal;
}

/** A call that was let in. What it starts is part of it: that takes no place of its own, and shares its requests. */
export interface Admitted {
  readonly requests: RequestBudget;
  /** Adds rows of an answer to its cost. */
  answered(rows: number): void;
  /** Ends the call; later calls change nothing. */
  leave(): void;
}

interface Waiting extends Entrant {
  readonly client: string;
  readonly letIn: (call: Admitted) => void;
}

/**
 * The one door of everything that asks endpoints for a client: queries, tools, diagnoses, questions. A client may have as
 * many calls under way as places are free, so that one alone has half of them, several share them, and somebody else still
 * finds one. Other calls wait for a moment, clients in turn: a burst delays answers and fails none, and what cannot be
 * done in time is refused soon.
 */
export class Admission {
  readonly #options: Required<Omit<AdmissionOptions, "onWaited" | "onBusy" | "onEnter" | "onLeave">> & AdmissionOptions;
  readonly #queue: FairQueue<Waiting>;
  #running = 0;
  #characters = 0;

  constructor(options: AdmissionOptions) {
    const { maxConcurrent, maxWaiting = 5 * maxConcurrent, maxWaitingCharacters = 32 * 1024 * 1024 } = options;
    const { maxWaitMs = 3_000, callRequests = 2_000 } = options;
    this.#options = { ...options, maxWaiting, maxWaitingCharacters, maxWaitMs, callRequests };
    this.#queue = new FairQueue({ maxWaiting, maxPerClient: Math.ceil(maxWaiting / 2) });
  }

  /** Calls that wait. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Calls that were let in. */
  get running(): number {
    return this.#running;
  }

  /**
   * Lets a call in, at once or later; whoever enters calls `leave` once.
   * @throws FedwayError `SERVICE_BUSY`, at once or as a rejection; `CANCELLED`, and what `onEnter` throws
   */
  enter(entrant: Entrant): Admitted | Promise<Admitted> {
    const checked = this.#options.onEnter?.(entrant.client ?? "");
    return checked === undefined ? this.#enter(entrant) : checked.then(() => this.#enter(entrant));
  }

  #enter(entrant: Entrant): Admitted | Promise<Admitted> {
    const { client = "" } = entrant;
    if (this.#mayRun(client)) return this.#admit(client, this.#queue.serve(client));
    if (this.#characters + entrant.characters > this.#options.maxWaitingCharacters) throw this.#busy(client);
    return this.#wait(entrant, client);
  }

  #mayRun(client: string): boolean {
    const free = this.#options.maxConcurrent - this.#running;
    return free > 0 && this.#queue.servedOf(client) < free;
  }

  #admit(client: string, done: () => void): Admitted {
    const requests = new RequestBudget(this.#options.callRequests);
    const beganMs = steadyClock.now();
    this.#running += 1;
    let rows = 0;
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      this.#running -= 1;
      done();
      const seconds = (steadyClock.now() - beganMs) / 1000;
      this.#options.onLeave?.(client, { requests: requests.spent, rows, seconds });
      this.#dispatch();
    };
    const answered = (more: number): void => {
      rows += more;
    };
    return { requests, answered, leave };
  }

  #dispatch(): void {
    while (this.#queue.size > 0 && this.#running < this.#options.maxConcurrent) {
      const next = this.#queue.take(({ client }) => this.#mayRun(client));
      if (next === undefined) return;
      next.item.letIn(this.#admit(next.item.client, next.done));
    }
  }

  #wait(entrant: Entrant, client: string): Promise<Admitted> {
    const { characters, signal, timeoutMs } = entrant;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#queue.remove(waiting);
        this.#characters -= characters;
        clearTimeout(timer);
        signal.removeEventListener("abort", gone);
      };
      const refuse = (error: FedwayError): void => {
        end();
        reject(error);
      };
      const gone = (): void => refuse(new FedwayError("CANCELLED", "The client closed the request."));
      const sinceMs = steadyClock.now();
      const letIn = (call: Admitted): void => {
        end();
        this.#options.onWaited?.(steadyClock.now() - sinceMs);
        resolve(call);
      };
      const waiting: Waiting = { ...entrant, client, letIn };
      const timer = setTimeout(() => refuse(this.#busy(client)), Math.min(this.#options.maxWaitMs, timeoutMs));
      this.#characters += characters;
      signal.addEventListener("abort", gone, { once: true });
      if (signal.aborted) gone();
      else if (this.#queue.push(client, waiting) !== "waiting") refuse(this.#busy(client));
    });
  }

  #busy(client: string): FedwayError {
    this.#options.onBusy?.();
    const own = this.#queue.servedOf(client);
    const detail = `${this.#running} calls are under way already, ${own} of them from this client.`;
    return new FedwayError("SERVICE_BUSY", detail, { retryAfterMs: 1_000, next: "Try again in a moment." });
  }
}
