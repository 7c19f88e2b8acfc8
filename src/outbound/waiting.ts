import { FedwayError } from "../errors/fedway-error.ts";
import type { Call } from "./call.ts";
import type { Scheduler, Waiter } from "./scheduler.ts";
import type { Task } from "./task.ts";

/**
 * Waits for a slot at an endpoint; undefined when there is one at once.
 * @param host where a turn is taken next
 * @throws FedwayError `ENDPOINT_BUSY`; `ENDPOINT_RATE_LIMITED` when the endpoint objects meanwhile
 */
export function takeSlot(task: Task, scheduler: Scheduler, host?: string): Promise<void> | undefined {
  let settle: { resolve(): void; reject(error: FedwayError): void } | undefined;
  const waiter: Waiter = {
    deadlineMs: task.deadlineMs,
    granted: () => settle?.resolve(),
    heldBack: (ms) => settle?.reject(heldBack(ms)),
  };
  const taken = scheduler.take(waiter);
  if (taken === "now") return undefined;
  if (taken === "full") throw endpointBusy();
  // Those that are queued here will all want a turn at the host before this one.
  const { hostRates } = task.network;
  const hostMs = host === undefined ? 0 : (hostRates?.waitMs(host, scheduler.waiting() - 1) ?? 0);
  if (hostMs >= task.leftMs) {
    scheduler.drop(waiter);
    throw hostBusy(hostMs);
  }
  return task.wait((resolve: (value: void) => void, reject) => {
    settle = { resolve, reject };
    return () => void scheduler.drop(waiter);
  });
}

/** Takes a turn at the host of a task's next request; undefined when there is one at once. @throws FedwayError `ENDPOINT_BUSY` */
export function hostTurn(task: Task): Promise<void> | undefined {
  task.check();
  task.waitingSinceMs = undefined;
  const { host, deadlineMs, network } = task;
  const { hostRates } = network;
  if (host === undefined || hostRates === undefined) return undefined;
  let settle: (() => void) | undefined;
  const waiter = { deadlineMs, granted: (): void => settle?.() };
  const taken = hostRates.take(host, waiter);
  if (taken === "now") return undefined;
  if (taken === "refused") throw hostBusy(hostRates.waitMs(host, 0));
  return task.wait((resolve) => {
    settle = resolve;
    return () => hostRates.drop(host, waiter);
  });
}

/**
 * Waits for the turn of a query's next request.
 * @throws FedwayError `ENDPOINT_BUSY`, or `ENDPOINT_RATE_LIMITED` when the endpoint has objected meanwhile
 */
export async function awaitTurn(call: Call): Promise<void> {
  for (;;) {
    const queued = hostTurn(call);
    if (queued === undefined) return;
    await queued;
    const heldMs = call.state.scheduler.heldMs();
    if (heldMs === 0) return;
    if (heldMs >= call.leftMs) throw heldBack(heldMs);
    await call.pause(heldMs);
  }
}

/** A turn at the host would come after the deadline. */
function hostBusy(waitMs: number): FedwayError {
  const message = "Too many requests are waiting for the endpoint's host, which has a limit of requests a second.";
  return new FedwayError("ENDPOINT_BUSY", message, {
    fault: "busy",
    retryAfterMs: Math.max(1, Math.ceil(waitMs)),
    next: "Try again later, allow more time, or send fewer queries; the operator can change FEDWAY_HOST_RATE.",
  });
}

/** The endpoint's Retry-After lasts longer than the query may. */
export function heldBack(retryAfterMs: number): FedwayError {
  return new FedwayError("ENDPOINT_RATE_LIMITED", "The endpoint has asked to be left alone for a while.", {
    fault: "http-429",
    retryAfterMs,
    next: "Wait before sending another query to this endpoint.",
  });
}

/** The endpoint's queue is full. */
function endpointBusy(): FedwayError {
  return new FedwayError("ENDPOINT_BUSY", "Too many queries are already waiting for the endpoint.", {
    fault: "busy",
    next: "Try again in a moment, or send fewer queries at once.",
  });
}
