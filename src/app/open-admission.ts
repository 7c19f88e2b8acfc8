import type { Logger } from "pino";
import { openClientKeys } from "../clients/client-keys.ts";
import { createQuotas } from "../clients/quotas.ts";
import { steadyClock, systemClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { createRateLimiter } from "../http/rate-limiter.ts";
import { Admission } from "../query/admission.ts";
import type { SlowLog } from "../query/slow-log.ts";
import { faultLog } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { State } from "./open-state.ts";

/** Requests to endpoints that cost a client as much as one request to this service. */
const requestsPerToken = 10;

interface Opened {
  readonly config: Config;
  readonly state: State;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Admission of calls. */
export type Door = Awaited<ReturnType<typeof openAdmission>>;

/** Named clients, the admission of calls, and the limit of what one client may cost a minute; undefined when there is none. */
export async function openAdmission({ config, state, metrics, log }: Opened, life: Lifecycle) {
  const { limits } = config;
  const { rateLimit: perMinute } = limits;
  const { soleOwner, store } = state;
  const onFault = faultLog(log, "keys of clients cannot be read or their use not be counted");
  const clients = await openClientKeys({ store, clock: systemClock, onFault });
  life.add(() => clients.close());
  const quotas = createQuotas({ store, clients, now: systemClock.now, onFault });
  life.add(() => quotas.close());
  const shared = soleOwner ? undefined : store;
  const limiter = perMinute === 0 ? undefined : createRateLimiter({ perMinute, now: steadyClock.now, store: shared });
  const admission = new Admission({
    ...limits,
    onWaited: (ms) => metrics.observeWait(ms),
    onBusy: () => metrics.observeBusy(),
    onEnter: (client) => quotas.admit(client),
    onLeave(client, cost) {
      limiter?.charge(client, Math.floor(cost.requests / requestsPerToken));
      quotas.settle(client, cost);
      metrics.observeCost(client, cost);
    },
  });
  metrics.watchPlaces("fedway_calls", "Queries, tool calls and diagnoses", () => ({
    running: admission.running,
    waiting: admission.waiting,
    places: limits.maxConcurrent,
  }));
  return { admission, limiter, access: { clients, quotas }, slow: openSlowLog(config, log, metrics) };
}

/** Counts and logs slow queries; undefined: they are not. */
function openSlowLog(config: Config, log: Logger, metrics: Metrics): SlowLog | undefined {
  const { slowQueryMs: ms, queries } = config.log;
  if (ms === 0) return undefined;
  return {
    ms,
    write({ query, ...run }) {
      metrics.observeSlow();
      log.warn({ ...run, query: queries ? query : undefined }, "slow query");
    },
  };
}
