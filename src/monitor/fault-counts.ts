import type { FaultKind } from "../errors/fedway-error.ts";

/** Faults by kind; kinds that did not occur are absent. */
export type FaultCounts = Readonly<Partial<Record<FaultKind, number>>>;

const known: Readonly<Record<FaultKind, true>> = {
  address: true,
  dns: true,
  connect: true,
  tls: true,
  timeout: true,
  reset: true,
  "http-3xx": true,
  "http-4xx": true,
  "http-429": true,
  "http-5xx": true,
  "wrong-media-type": true,
  malformed: true,
  "wrong-answer": true,
  partial: true,
  "too-large": true,
  busy: true,
  "circuit-open": true,
};

/** Text that names a kind of fault. */
export const isFaultKind = (value: unknown): value is FaultKind =>
  typeof value === "string" && Object.hasOwn(known, value);
