import { FedwayError } from "../errors/fedway-error.ts";
import { nearest } from "../errors/nearest.ts";
import type { EnqueueOptions, JobKind, JobProgress, JobSchedule } from "./job-queue.ts";

const idPattern = /^[\w.-]{1,128}$/;
/** Room for the moment of a turn behind the name. */
const schedulePattern = /^[\w.-]{1,100}$/;
const mostPayloadBytes = 256 * 1024;
const mostResultBytes = 1024 * 1024;
const highestPriority = 1_000_000;
const longestPeriodMs = 366 * 24 * 3_600_000;
const shortestPeriodMs = 100;
const mostFigures = 20;
const mostStageLength = 200;

/** Reason on a handler's aborted signal. */
export const stopped = (why: string): FedwayError => new FedwayError("CANCELLED", why);

function refuse(message: string): never {
  throw new FedwayError("REQUEST_INVALID", message);
}

/** @throws FedwayError `REQUEST_INVALID` */
export function checkId(id: string): void {
  if (!idPattern.test(id)) refuse("A job's id is not 1 to 128 letters, digits, dots, hyphens or underscores.");
}

/** @throws FedwayError `REQUEST_INVALID` */
export function checkEnqueueOptions({ id, priority }: EnqueueOptions): void {
  if (id !== undefined) checkId(id);
  if (priority !== undefined && !(Number.isSafeInteger(priority) && Math.abs(priority) <= highestPriority)) {
    refuse("A job's priority is not a whole number between -1,000,000 and 1,000,000.");
  }
}

/** Kinds by their names. */
type Kinds = ReadonlyMap<string, JobKind>;

/** The kind of this name. @throws FedwayError `REQUEST_INVALID` */
export function knownKind(kinds: Kinds, name: string): JobKind {
  const kind = kinds.get(name);
  if (kind !== undefined) return kind;
  const known = nearest(name, kinds.keys());
  throw new FedwayError("REQUEST_INVALID", "There is no such kind of job.", {
    ...(known.length > 0 && { next: `Did you mean ${known.join(" or ")}?` }),
  });
}

/** A copy of a payload that its kind takes. @throws FedwayError `REQUEST_INVALID` */
export function checkedPayload(kinds: Kinds, name: string, payload: unknown): unknown {
  const copy = payloadCopy(payload);
  knownKind(kinds, name).validate(copy);
  return copy;
}

/** @throws FedwayError `REQUEST_INVALID` */
export function checkSchedule({ name, everyMs }: JobSchedule): void {
  if (!schedulePattern.test(name))
    refuse("A schedule's name is not 1 to 100 letters, digits, dots, hyphens or underscores.");
  if (!Number.isSafeInteger(everyMs) || everyMs < shortestPeriodMs || everyMs > longestPeriodMs) {
    refuse(`A schedule's period is not a whole number of milliseconds between ${shortestPeriodMs} and a year.`);
  }
}

/** @throws FedwayError `CONFIG_INVALID` for two handlers of one kind, or settings that make no sense */
export function checkKinds(kinds: readonly JobKind[]): void {
  const names = new Set<string>();
  for (const { name, concurrency = 1, maxAttempts = 3 } of kinds) {
    if (names.has(name)) throw new FedwayError("CONFIG_INVALID", `The job kind ${name} has more than one handler.`);
    names.add(name);
    const counts = [concurrency, maxAttempts];
    if (!idPattern.test(name) || counts.some((count) => !Number.isSafeInteger(count) || count < 1)) {
      throw new FedwayError("CONFIG_INVALID", `The job kind ${name.slice(0, 128)} has settings out of range.`);
    }
  }
}

/** A payload as it is stored. @throws FedwayError `REQUEST_INVALID` when it is no JSON value, or larger than 256 KiB */
export function payloadCopy(payload: unknown): unknown {
  const text = jsonText(payload, mostPayloadBytes);
  return JSON.parse(text ?? refuse("A job's payload is not a JSON value of at most 256 KiB."));
}

/** A result as JSON text; undefined when there is none. @throws FedwayError `INTERNAL` for one that cannot be kept */
export function resultText(result: unknown): string | undefined {
  if (result === undefined) return undefined;
  const text = jsonText(result, mostResultBytes);
  if (text === undefined) throw new FedwayError("INTERNAL", "The job's result is not a JSON value of at most 1 MiB.");
  return text;
}

function jsonText(value: unknown, mostBytes: number): string | undefined {
  let text: unknown;
  try {
    text = JSON.stringify(value ?? null);
  } catch {
    return undefined;
  }
  return typeof text === "string" && Buffer.byteLength(text) <= mostBytes ? text : undefined;
}

/** A copy of a handler's progress that is small, whatever the handler gave. */
export function boundedProgress({ stage, done, total, figures }: JobProgress): JobProgress {
  const kept = Object.entries(figures ?? {}).filter(([, figure]) => Number.isFinite(figure));
  return {
    stage: stage.slice(0, mostStageLength),
    done,
    ...(total !== undefined && { total }),
    ...(figures !== undefined && { figures: Object.fromEntries(kept.slice(0, mostFigures)) }),
  };
}

/** Why a job failed; public text. */
export interface PublicError {
  readonly code: string;
  readonly message: string;
}
