import { FedwayError } from "../errors/fedway-error.ts";

/** How many queries may run, and how many may wait for that. */
interface AdmissionOptions {
  readonly maxConcurrent: number;
  /** Queries that wait, and the characters of all their texts; default 5 for each that may run, and 32 Mi. */
  readonly maxWaiting?: number;
  readonly maxWaitingCharacters?: number;
  /** Longest wait in milliseconds; default 3,000. */
  readonly maxWaitMs?: number;
}

/** A query that asks to be let in. */
interface Entrant {
  /** Length of its text. */
  readonly characters: number;
  /** Milliseconds that it would wait. */
  readonly timeoutMs: number;
  /** Aborted when nobody wants the answer any more. */
  readonly signal: AbortSignal;
}

interface Waiting extends Entrant {
  readonly letIn: () => void;
}

/**
 * Lets queries in up to a number; others wait for a moment, in their order. So a burst, or a process that stood still
 * for a second, delays answers and fails none, and what cannot be done in time is refused soon.
 */
export function createAdmission(options: AdmissionOptions) {
  const { maxConcurrent, maxWaiting = 5 * maxConcurrent, maxWaitingCharacters = 32 * 1024 * 1024 } = options;
  const maxWaitMs = options.maxWaitMs ?? 3_000;
  /** In their order; one that gives up is taken out. */
  const queue = new Set<Waiting>();
  let running = 0;
  let characters = 0;
  const takeOut = (one: Waiting): void => {
    if (queue.delete(one)) characters -= one.characters;
  };
  const wait = (entrant: Entrant): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (error?: FedwayError): void => {
        takeOut(waiting);
        clearTimeout(timer);
        entrant.signal.removeEventListener("abort", gone);
        if (error) reject(error);
        else resolve();
      };
      const gone = (): void => leave(new FedwayError("CANCELLED", "The client closed the request."));
      const waiting: Waiting = { ...entrant, letIn: () => leave() };
      const timer = setTimeout(() => leave(busy(maxConcurrent)), Math.min(maxWaitMs, entrant.timeoutMs));
      queue.add(waiting);
      characters += entrant.characters;
      entrant.signal.addEventListener("abort", gone, { once: true });
      if (entrant.signal.aborted) gone();
    });
  return {
    /**
     * Undefined when the query may run now, otherwise a promise of that. A query that was let in calls `leave` once.
     * @throws FedwayError `SERVICE_BUSY`, at once or as a rejection; `CANCELLED`
     */
    enter(entrant: Entrant): Promise<void> | undefined {
      if (running < maxConcurrent) {
        running += 1;
        return undefined;
      }
      if (queue.size >= maxWaiting || characters + entrant.characters > maxWaitingCharacters) throw busy(maxConcurrent);
      return wait(entrant);
    },
    leave(): void {
      // The place goes from one to the next: nobody who comes now gets in front of those that wait.
      const [next] = queue;
      if (next === undefined) running -= 1;
      else next.letIn();
    },
    get waiting(): number {
      return queue.size;
    },
  };
}

export type Admission = ReturnType<typeof createAdmission>;

function busy(maxConcurrent: number): FedwayError {
  return new FedwayError("SERVICE_BUSY", `${maxConcurrent} queries are running already.`, {
    retryAfterMs: 1_000,
    next: "Try again in a moment.",
  });
}
