import { randomUUID } from "node:crypto";
import { steadyClock } from "../clock.ts";
import { cancellation, FedwayError } from "../errors/fedway-error.ts";
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

/** Cost of a call: requests sent to endpoints, rows of its answers, time under way. */
interface CallCost {
  readonly requests: number;
  readonly rows: number;
  readonly seconds: number;
}

/** A call that asks to be let in. */
export interface Entrant {
  /** Client of the call. */
  readonly client?: string | undefined;
  /** Name of a call that is no query, such as that of its tool. */
  readonly what?: string | undefined;
  /** Length of its text. */
  readonly characters: number;
  /** It may not ask endpoints that need the operator's credentials. Default false. */
  readonly withoutCredentials?: boolean | undefined;
  /** Milliseconds that it would wait. */
  readonly timeoutMs: number;
  /** Aborted when the answer is not needed any more. */
  readonly signal: AbortSignal;
}

/** A call that was let in. What it starts is part of it: that takes no place of its own, and shares its requests. */
export interface Admitted {
  readonly requests: RequestBudget;
  /** Adds rows of an answer to its cost. */
  answered(rows: number): void;
  /** Aborted with a `FedwayError` when the client has left or the call is cancelled. */
  readonly signal: AbortSignal;
  /** Ends all that the call does. */
  readonly cancel: (reason: FedwayError) => void;
  /** Ends the call; later calls change nothing. */
  leave(): void;
}

/** A call from its arrival to its end. */
class Call {
  readonly id = randomUUID();
  readonly sinceMs = Date.now();
  readonly entrant: Entrant;
  readonly client: string;
  isWaiting = false;
  /** Lets it in when it waits. */
  letIn: (call: Admitted) => void = () => {};
  readonly #controller = new AbortController();

  constructor(entrant: Entrant) {
    this.entrant = entrant;
    this.client = entrant.client ?? "";
    if (entrant.signal.aborted) this.#leave();
    else entrant.signal.addEventListener("abort", this.#leave, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends all that the call does. */
  readonly cancel = (reason: FedwayError): void => this.#controller.abort(reason);
  readonly #leave = (): void => this.cancel(cancellation(this.entrant.signal));

  /** Nothing is left to cancel. */
  end(): void {
    this.entrant.signal.removeEventListener("abort", this.#leave);
  }
}

/**
 * The one door of everything that asks endpoints for a client: queries, tools, diagnoses, questions. A client may have as
 * many calls under way as places are free, so that one alone has half of them, several share them, and somebody else still
 * finds one. Other calls wait for a moment, clients in turn: a burst delays answers and fails none, and what cannot be
 * done in time is refused soon.
 */
export class Admission {
  readonly #options: Required<Omit<AdmissionOptions, "onWaited" | "onBusy" | "onEnter" | "onLeave">> & AdmissionOptions;
  readonly #queue: FairQueue<Call>;
  readonly #listed = new Set<Call>();
  #running = 0;
  #characters = 0;

  constructor(options: AdmissionOptions) {
    const { maxConcurrent, maxWaiting = 5 * maxConcurrent, maxWaitingCharacters = 32 * 1024 * 1024 } = options;
    const { maxWaitMs = 3_000, callRequests = 2_000 } = options;
    this.#options = { ...options, maxWaiting, maxWaitingCharacters, maxWaitMs, callRequests };
    this.#queue = new FairQueue({ maxWaiting, maxPerClient: Math.ceil(maxWaiting / 2) });
  }

  /** Called when a call is listed, or not any more. */
  onListed: () => void = () => {};

  /** Calls under way of which no run is known: those that wait, and those that are no queries. */
  get listed(): ReadonlySet<Call> {
    return this.#listed;
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
    if (this.#mayRun(client)) return this.#admit(new Call(entrant), this.#queue.serve(client));
    if (this.#characters + entrant.characters > this.#options.maxWaitingCharacters) throw this.#busy(client);
    return this.#wait(new Call(entrant));
  }

  #mayRun(client: string): boolean {
    const free = this.#options.maxConcurrent - this.#running;
    return free > 0 && this.#queue.servedOf(client) < free;
  }

  #list(call: Call, isListed: boolean): void {
    if (this.#listed.has(call) === isListed) return;
    if (isListed) this.#listed.add(call);
    else this.#listed.delete(call);
    this.onListed();
  }

  #admit(call: Call, done: () => void): Admitted {
    const { client, cancel, signal } = call;
    const { withoutCredentials } = call.entrant;
    const requests = new RequestBudget(this.#options.callRequests, { withoutCredentials });
    const beganMs = steadyClock.now();
    this.#running += 1;
    let rows = 0;
    this.#list(call, call.entrant.what !== undefined);
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      call.end();
      this.#list(call, false);
      this.#running -= 1;
      done();
      const seconds = (steadyClock.now() - beganMs) / 1000;
      this.#options.onLeave?.(client, { requests: requests.spent, rows, seconds });
      this.#dispatch();
    };
    const answered = (more: number): void => {
      rows += more;
    };
    return { requests, signal, cancel, answered, leave };
  }

  #dispatch(): void {
    while (this.#queue.size > 0 && this.#running < this.#options.maxConcurrent) {
      const next = this.#queue.take(({ client }) => this.#mayRun(client));
      if (next === undefined) return;
      next.item.letIn(this.#admit(next.item, next.done));
    }
  }

  #wait(call: Call): Promise<Admitted> {
    const { client, signal, entrant } = call;
    const { characters, timeoutMs } = entrant;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#queue.remove(call);
        call.isWaiting = false;
        this.#characters -= characters;
        clearTimeout(timer);
        signal.removeEventListener("abort", gone);
      };
      const refuse = (error: FedwayError): void => {
        end();
        call.end();
        this.#list(call, false);
        reject(error);
      };
      const gone = (): void => refuse(cancellation(signal));
      const sinceMs = steadyClock.now();
      call.isWaiting = true;
      call.letIn = (admitted) => {
        end();
        this.#options.onWaited?.(steadyClock.now() - sinceMs);
        resolve(admitted);
      };
      const timer = setTimeout(() => refuse(this.#busy(client)), Math.min(this.#options.maxWaitMs, timeoutMs));
      this.#characters += characters;
      signal.addEventListener("abort", gone, { once: true });
      if (signal.aborted) gone();
      else if (this.#queue.push(client, call) !== "waiting") refuse(this.#busy(client));
      else this.#list(call, true);
    });
  }

  #busy(client: string): FedwayError {
    this.#options.onBusy?.();
    const own = this.#queue.servedOf(client);
    const detail = `${this.#running} calls are under way already, ${own} of them from this client.`;
    return new FedwayError("SERVICE_BUSY", detail, { retryAfterMs: 1_000, next: "Try again in a moment." });
  }
}
