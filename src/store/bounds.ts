import { FedwayError } from "../errors/fedway-error.ts";
import type { ListOptions, PutOptions, SeriesPoint } from "./store.ts";

/** How often a write also removes what has expired. */
export const sweepEveryMs = 60_000;

const mostKeyBytes = 512;
const mostValueBytes = 64 * 1024 * 1024;
/** A hundred years; longer times are a mistake of the caller. */
const longestMs = 100 * 365 * 24 * 3_600_000;
const mostPoints = 10_000;
const mostListed = 100_000;
const defaultListed = 1_000;

const controlCharacter = /\p{Cc}/u;

function refuse(message: string): never {
  throw new FedwayError("REQUEST_INVALID", message);
}

/** Keys, series, counters and leases. @throws FedwayError `REQUEST_INVALID` */
export function checkKey(key: string): void {
  if (key === "") refuse("A key of the store is empty.");
  checkPrefix(key);
}

/** Like a key, but may be empty. @throws FedwayError `REQUEST_INVALID` */
export function checkPrefix(prefix: string): void {
  if (prefix.length > mostKeyBytes || Buffer.byteLength(prefix) > mostKeyBytes) {
    refuse(`A key of the store is longer than ${mostKeyBytes} bytes.`);
  }
  if (!prefix.isWellFormed() || controlCharacter.test(prefix)) {
    refuse("A key of the store has control characters or is not well-formed Unicode.");
  }
}

/** @throws FedwayError `REQUEST_INVALID` */
export function checkValue(value: string): void {
  const bytes = value.length > mostValueBytes ? value.length : Buffer.byteLength(value);
  if (bytes > mostValueBytes) refuse("A value is larger than the 64 MiB that the store takes.");
  if (!value.isWellFormed()) refuse("A value is not well-formed Unicode.");
}

/** A duration in whole milliseconds, at least one. @throws FedwayError `REQUEST_INVALID` */
export function checkDuration(ms: number, name: string): void {
  if (!Number.isSafeInteger(ms) || ms < 1 || ms > longestMs) {
    refuse(`${name} is not a whole number of milliseconds between 1 and 100 years.`);
  }
}

/** @throws FedwayError `REQUEST_INVALID` */
export function checkLease(lease: string, owner: string, ttlMs: number): void {
  checkKey(lease);
  checkKey(owner);
  checkDuration(ttlMs, "ttlMs");
}

/** @throws FedwayError `REQUEST_INVALID` */
export function checkPutOptions(options: PutOptions): void {
  if (options.ttlMs !== undefined) checkDuration(options.ttlMs, "ttlMs");
  if (options.ifVersion !== undefined && (!Number.isSafeInteger(options.ifVersion) || options.ifVersion < 0)) {
    refuse("ifVersion is not a version of a document.");
  }
}

/** The number of documents to list. @throws FedwayError `REQUEST_INVALID` */
export function listLimit(prefix: string, options: ListOptions): number {
  checkPrefix(prefix);
  if (options.after !== undefined) checkPrefix(options.after);
  return checkLimit(options.limit ?? defaultListed);
}

/** @throws FedwayError `REQUEST_INVALID` */
export function checkLimit(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > mostListed) {
    refuse(`limit is not a whole number between 1 and ${mostListed}.`);
  }
  return limit;
}

/** @throws FedwayError `REQUEST_INVALID` */
export function checkPoints(series: string, points: readonly SeriesPoint[], retentionMs: number | undefined): void {
  checkKey(series);
  if (retentionMs !== undefined) checkDuration(retentionMs, "retentionMs");
  if (points.length > mostPoints) refuse(`More than ${mostPoints} points are appended at once.`);
  for (const { atMs, value } of points) {
    if (!Number.isSafeInteger(atMs)) refuse("A point's moment is not a whole number of milliseconds.");
    checkValue(value);
  }
}

/** What a range of a series is limited to. */
export interface RangeBounds {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit?: number;
}

/** @throws FedwayError `REQUEST_INVALID` */
export function checkRange(series: string, { fromMs, toMs, limit }: RangeBounds): void {
  checkKey(series);
  if (Number.isNaN(fromMs) || Number.isNaN(toMs)) refuse("The range of a series is not a number.");
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1))
    refuse("limit is not a whole number above 0.");
}

/** A counter's next value; exact integers only. @throws FedwayError `REQUEST_INVALID` */
export function counterSum(value: number, by: number): number {
  const sum = value + by;
  if (!Number.isSafeInteger(by) || !Number.isSafeInteger(sum)) refuse(counterBeyond);
  return sum;
}

/** Message for a counter that would leave the exact integers. */
export const counterBeyond = "A counter would leave the whole numbers of 53 bits.";
