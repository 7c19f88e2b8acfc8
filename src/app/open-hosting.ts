import type { Config } from "../config/config.ts";
import { createEndpointPool, type EndpointPool } from "../hosting/endpoint-pool.ts";

/** The one pool of all endpoints that this process hosts, examples and shards. */
export const openHosting = ({ limits }: Pick<Config, "limits">): EndpointPool =>
  createEndpointPool({
    timeoutMs: limits.hostedTimeoutMs,
    totalMb: limits.hostedTotalMb,
    maxAnswerBytes: 64 * 1024 * 1024,
    maxWaiting: 256,
    maxPerClient: 32,
  });
