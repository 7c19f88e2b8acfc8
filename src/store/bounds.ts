import { FedwayError } from "../errors/fedway-error.ts";
import type { PutOptions, Store, StoredDocument } from "./store.ts";

/** How often a write also removes expired entries. */
export const sweepEveryMs = 60_000;

const mostKeyBytes = 512;
const mostValueBytes = 64 * 1024 * 1024;
/** A hundred years; longer times are a mistake of the caller. */
const longestMs = 100 * 365 * 24 * 3_600_000;
const mostListed = 100_000;
const defaultListed = 1_000;

const controlCharacter = /\p{Cc}/u;

/** A store that may rely on its arguments, and gets all of them. */
export interface StoreAdapter extends Omit<Store, "put" | "delete" | "list" | "increment"> {
  put(key: string, value: string, options: PutOptions): Promise<number | undefined>;
  delete(key: string, options: PutOptions): Promise<boolean>;
  list(prefix: string, limit: number, after: string | undefined): Promise<readonly StoredDocument[]>;
  increment(counter: string, by: number, options: { readonly ttlMs?: number }): Promise<number>;
}

/** Checks the arguments of a store, the same for every adapter. Its methods throw FedwayError `REQUEST_INVALID`. */
export function checkedStore(adapter: StoreAdapter): Store {
  return {
    name: adapter.name,
    async get(key) {
      checkKey(key);
      return adapter.get(key);
    },
    async put(key, value, options = {}) {
      checkKey(key);
      checkValue(value);
      checkDuration(options.ttlMs, "ttlMs");
      checkVersion(options.ifVersion);
      return adapter.put(key, value, options);
    },
    async delete(key, options = {}) {
      checkKey(key);
      checkVersion(options.ifVersion);
      return adapter.delete(key, options);
    },
    async list(prefix, { after, limit = defaultListed } = {}) {
      checkText(prefix);
      if (after !== undefined) checkText(after);
      if (limit > mostListed) refuse(`limit is not a whole number between 1 and ${mostListed}.`);
      checkLimit(limit);
      return adapter.list(prefix, limit, after);
    },
    watch: (prefix, listener) => adapter.watch(prefix, listener),
    ...checkedNumbers(adapter),
    close: () => adapter.close(),
  };
}

function checkedNumbers(adapter: StoreAdapter) {
  return {
    async increment(counter, by, options = {}) {
      checkKey(counter);
      checkDuration(options.ttlMs, "ttlMs");
      counterSum(0, by);
      return adapter.increment(counter, by, options);
    },
    async acquire(lease, owner, ttlMs) {
      checkKey(lease);
      checkKey(owner);
      checkDuration(ttlMs, "ttlMs");
      return adapter.acquire(lease, owner, ttlMs);
    },
    async release(lease, owner) {
      checkKey(lease);
      await adapter.release(lease, owner);
    },
  } satisfies Partial<Store>;
}

function refuse(message: string): never {
  throw new FedwayError("REQUEST_INVALID", message);
}

function checkKey(key: string): void {
  if (key === "") refuse("A key of the store is empty.");
  checkText(key);
}

/** A key, or a prefix of keys. */
function checkText(text: string): void {
  if (text.length > mostKeyBytes || Buffer.byteLength(text) > mostKeyBytes) {
    refuse(`A key of the store is longer than ${mostKeyBytes} bytes.`);
  }
  if (!text.isWellFormed() || controlCharacter.test(text)) {
    refuse("A key of the store has control characters or is not well-formed Unicode.");
  }
}

function checkValue(value: string): void {
  const bytes = value.length > mostValueBytes ? value.length : Buffer.byteLength(value);
  if (bytes > mostValueBytes) refuse("A value is larger than the 64 MiB that the store takes.");
  if (!value.isWellFormed()) refuse("A value is not well-formed Unicode.");
}

function checkDuration(ms: number | undefined, name: string): void {
  if (ms !== undefined && (!Number.isSafeInteger(ms) || ms < 1 || ms > longestMs)) {
    refuse(`${name} is not a whole number of milliseconds between 1 and 100 years.`);
  }
}

function checkVersion(version: number | undefined): void {
  if (version !== undefined && (!Number.isSafeInteger(version) || version < 0)) {
    refuse("ifVersion is not a version of a document.");
  }
}

function checkLimit(limit: number): void {
  if (!Number.isSafeInteger(limit) || limit < 1) refuse("limit is not a whole number above 0.");
}

/** A counter's next value; exact integers only. @throws FedwayError `REQUEST_INVALID` */
export function counterSum(value: number, by: number): number {
  const sum = value + by;
  if (!Number.isSafeInteger(by) || !Number.isSafeInteger(sum)) refuse(counterBeyond);
  return sum;
}

/** Message for a counter that would leave the exact integers. */
export const counterBeyond = "A counter would leave the whole numbers of 53 bits.";

const usualNext =
  "Try again in a while, and look first whether the change was made. Queries are answered all the same.";

/** A `STORE_FAILED` whose message names no path, address or value. */
export function storeFailed(message: string, cause?: unknown, next = usualNext): FedwayError {
  return new FedwayError("STORE_FAILED", message, { ...(cause !== undefined && { cause }), next });
}

/** Error of every method of a closed store. */
export function storeClosed(): FedwayError {
  return storeFailed("The store is closed.");
}
