/** A span of another process. */
export interface RemoteParent {
  /** 32 hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all 0. */
  readonly spanId: string;
  /** The other process records it; a child is recorded when its parent is. */
  readonly sampled: boolean;
}

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/;
const zeros = /^0+$/;

/**
 * Reads a `traceparent` header (W3C Trace Context, section 3.2); undefined when it is not exactly right. Versions to come
 * may add fields at the end.
 */
export function parseTraceparent(text: string): RemoteParent | undefined {
  const [, version, traceId = "0", spanId = "0", flags = "0", more] = shape.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (zeros.test(traceId) || zeros.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
