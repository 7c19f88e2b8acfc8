import { steadyClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { createRateLimiter } from "../http/rate-limiter.ts";
import { Admission } from "../query/admission.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { State } from "./open-state.ts";

/** Requests to endpoints that cost a client as much as one request to this service. */
const requestsPerToken = 10;

/** What calls are let in by. */
export type Door = ReturnType<typeof openAdmission>;

/** The admission of calls, and the limit of what one client may cost a minute; undefined when there is none. */
export function openAdmission({ limits }: Config, { soleOwner, store }: State, metrics: Metrics) {
  const { rateLimit: perMinute } = limits;
  const shared = soleOwner ? undefined : store;
  const limiter = perMinute === 0 ? undefined : createRateLimiter({ perMinute, now: steadyClock.now, store: shared });
  const admission = new Admission({
    ...limits,
    onBusy: () => metrics.observeBusy(),
    onLeave: (client, requests) => limiter?.charge(client, Math.floor(requests / requestsPerToken)),
  });
  return { admission, limiter };
}
