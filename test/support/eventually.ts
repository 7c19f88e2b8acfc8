import { vi } from "vitest";

// Only what never comes about takes all of this time.
const patience = { timeout: 120_000, interval: 40 };

/** Waits until an assertion holds. `expect.poll` does the same with the test's own `expect`. */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> => vi.waitFor(assertion, patience);

/** Waits until a condition holds; gives what it resolves to. */
export const until = <T>(condition: () => T | Promise<T>) => vi.waitUntil(condition, patience);
