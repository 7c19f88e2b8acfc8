import type { Count } from "./void-description.ts";

/** Code unit order. */
export const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Descending, unknown last. */
export const byCount = (one: Count | undefined, other: Count | undefined): number =>
  (other?.value ?? -1) - (one?.value ?? -1);
