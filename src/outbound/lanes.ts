import { type Breaker, type BreakerOptions, createBreaker } from "./breaker.ts";
import type { BreakerReport } from "./breakers.ts";
import type { EngineQuirks } from "./engine-quirks.ts";
import { createScheduler, type Scheduler, type SchedulerOptions } from "./scheduler.ts";
import type { EndpointTarget, RequestMethod } from "./sparql-client.ts";
import { partsOf } from "./url-parts.ts";

/** What is remembered of one endpoint (one origin and path). */
export interface Lane {
  readonly scheduler: Scheduler;
  readonly breaker: Breaker;
  /** Request method that worked after another one had failed. */
  method: RequestMethod | undefined;
  /** What the engine behind it gets wrong, once a response head has given that engine away. */
  quirks: EngineQuirks | undefined;
  /** The latest row cap that an answer has named. */
  rowCap: number | undefined;
}

/** How lanes are made. */
export interface LaneOptions {
  readonly scheduler: SchedulerOptions;
  readonly breaker: Omit<BreakerOptions, "onState">;
  /** Lanes remembered; busy ones are never dropped. */
  readonly maxLanes: number;
  onBreaker?(report: BreakerReport): void;
}

/** Finds the lane of an endpoint and forgets the longest unused idle ones. */
export interface Lanes {
  of(target: EndpointTarget, url: URL): Lane;
  /** The lane of an endpoint, if it is remembered; no use of it. */
  find(url: URL): Lane | undefined;
  readonly size: number;
  close(): void;
}

/** Name of an endpoint in metrics: a closed set. */
export const metricName = (target: EndpointTarget): string => target.id ?? "unlisted";

const isIdle = ({ scheduler, breaker }: Lane): boolean => scheduler.idle && breaker.state === "closed";

/** A breaker that tells whose it is. */
function reportingBreaker(options: LaneOptions, target: EndpointTarget, url: string): Breaker {
  const named = { endpoint: metricName(target), ...(target.id !== undefined && { id: target.id }), url };
  const breaker = createBreaker({
    ...options.breaker,
    onState: (state, by) =>
      options.onBreaker?.({ ...named, state, ...(state === "open" && { openUntilMs: breaker.openUntilMs }), by }),
  });
  return breaker;
}

/** What an endpoint is remembered by. */
const keyOf = (url: URL): string => partsOf(url).place;

export function createLanes(options: LaneOptions): Lanes {
  // Insertion order is order of use: a lane that is used moves to the end.
  const lanes = new Map<string, Lane>();

  const forget = (dispensable: (lane: Lane) => boolean): boolean => {
    for (const [key, lane] of lanes) {
      if (!dispensable(lane)) continue;
      lane.scheduler.close();
      lanes.delete(key);
      return true;
    }
    return false;
  };
  const makeRoom = (): void => {
    if (lanes.size < options.maxLanes) return;
    // An open breaker is worth remembering, but not at any price.
    if (!forget(isIdle)) forget(({ scheduler }) => scheduler.idle);
  };

  const open = (target: EndpointTarget, key: string): Lane => {
    makeRoom();
    return {
      scheduler: createScheduler(options.scheduler),
      breaker: reportingBreaker(options, target, key),
      method: undefined,
      quirks: undefined,
      rowCap: undefined,
    };
  };

  let latest: Lane | undefined;
  return {
    of(target, url) {
      const key = keyOf(url);
      let lane = lanes.get(key);
      if (lane !== undefined && lane === latest) return lane;
      if (lane === undefined) lane = open(target, key);
      else lanes.delete(key);
      lanes.set(key, lane);
      latest = lane;
      return lane;
    },
    find: (url) => lanes.get(keyOf(url)),
    get size() {
      return lanes.size;
    },
    close() {
      for (const lane of lanes.values()) lane.scheduler.close();
      lanes.clear();
    },
  };
}
