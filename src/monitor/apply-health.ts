import { type Clock, every, inTurns } from "../clock.ts";
import type { Breakers } from "../outbound/endpoint-states.ts";
import type { Monitor } from "./create-monitor.ts";
import { transportFaults } from "./judgement.ts";
import type { EndpointHealth, HealthState, MonitorEvent } from "./monitor.ts";
import { isShared, recordOfIncident } from "./subjects.ts";

/** Parts that findings are applied to, and the probing interval. */
export interface AppliedHealthOptions {
  readonly monitor: Pick<Monitor, "health" | "all" | "onEvent">;
  readonly breakers: Pick<Breakers, "holdOpen" | "close">;
  /** Time between two turns of an endpoint. */
  readonly everyMs: number;
  /** How far a turn may be from its time, as a share of `everyMs`. */
  readonly jitter: number;
  readonly clock: Clock;
  /** Time between two reads of other processes' findings in memory; default 2,000. */
  readonly pollMs?: number;
  /** Endpoints that each process answers itself: what one finds says nothing about the others. */
  readonly isLocal?: (url: string) => boolean;
  readonly onFault: (error: unknown) => void;
}

/** The monitor's findings at work. */
export type AppliedHealth = HealthApplication;

/** The part of an endpoint's health that is kept. */
interface State {
  readonly state: HealthState;
  readonly sinceMs?: number | undefined;
}

const defaultPollMs = 2_000;
/** Two tries of a probe and the pause between them: its result may come so late after its beginning. */
const longestProbeMs = 62_000;

/** A breaker that an open incident holds open. */
interface Hold {
  readonly url: string;
  /** When the probe that renewed it was made. */
  readonly probedMs: number;
}

class HealthApplication {
  /** For the planner; its version grows when an endpoint goes down or comes back, not with every probe. */
  readonly availability: {
    readonly version: number;
    state(id: string): HealthState;
    sinceMs(id: string): number | undefined;
  };
  readonly #options: AppliedHealthOptions;
  readonly #ignore: () => void;
  readonly #states = new Map<string, State>();
  readonly #holds = new Map<string, Hold>();
  #version = 0;
  readonly #looking: { stop(): Promise<void> };

  constructor(options: AppliedHealthOptions) {
    this.#options = options;
    const versionNow = (): number => this.#version;
    this.availability = {
      get version() {
        return versionNow();
      },
      state: (id) => this.#states.get(id)?.state ?? "unknown",
      sinceMs: (id) => this.#states.get(id)?.sinceMs,
    };
    this.#ignore = options.monitor.onEvent((event) => this.#hear(event));
    const { clock, pollMs = defaultPollMs, onFault } = options;
    this.#looking = every(pollMs, () => inTurns(this.#look()), { clock, onFault });
  }

  close(): void {
    this.#ignore();
    void this.#looking.stop();
  }

  #hear(event: MonitorEvent): void {
    const { monitor, breakers } = this.#options;
    // Shared incidents are felt by the endpoints, as those have them open; findings say nothing of whether they answer.
    if (event.kind !== "probed" && isShared(recordOfIncident(event.incident.id))) return;
    if (event.kind === "incident-closed") breakers.close(event.incident.url);
    const id = event.kind === "probed" ? event.endpoint : event.incident.endpoint;
    const health = monitor.health(id);
    if (health === undefined) this.#forget(id);
    else this.#take(health);
  }

  *#look(): Generator<void, void> {
    const { monitor } = this.#options;
    const all = monitor.all();
    for (const { endpoint } of all) {
      // As it is by now: others had their turn since all were read.
      const health = monitor.health(endpoint);
      if (health !== undefined) this.#take(health);
      yield;
    }
    const known = new Set(all.map(({ endpoint }) => endpoint));
    for (const id of this.#states.keys()) if (!known.has(id) && monitor.health(id) === undefined) this.#forget(id);
  }

  #take(health: EndpointHealth): void {
    const { endpoint, state, sinceMs, incident, last } = health;
    this.#remember(endpoint, { state, sinceMs });
    // Degraded endpoints are asked as usual, and flapping ones while they answer.
    const isUsable = state === "degraded" || (state === "flapping" && last?.ok === true);
    if (incident === undefined || isUsable) this.#release(endpoint);
    else this.#hold(health, incident);
  }

  #remember(id: string, now: State | undefined): void {
    if (downSince(this.#states.get(id)) !== downSince(now)) this.#version += 1;
    if (now === undefined) this.#states.delete(id);
    else this.#states.set(id, now);
  }

  #forget(id: string): void {
    this.#remember(id, undefined);
    this.#release(id);
  }

  #hold(health: EndpointHealth, incident: string): void {
    const { endpoint, url, last } = health;
    const { breakers, clock, everyMs, jitter, isLocal } = this.#options;
    // One that answers wrongly is still asked.
    if (last?.fault === undefined || !transportFaults.has(last.fault) || isLocal?.(url) === true) return;
    // Each failed probe holds it once: what opens or closes the breaker after that is not undone.
    if (this.#holds.get(endpoint)?.probedMs === last.atMs) return;
    this.#holds.set(endpoint, { url, probedMs: last.atMs });
    // From the end of the probe, as the next one takes as long until its result is there.
    const endedMs = Math.min(last.atMs + longestProbeMs, clock.now());
    breakers.holdOpen({ id: endpoint, url }, endedMs + everyMs * (1 + jitter), reasonOf(health, incident));
  }

  #release(id: string): void {
    const hold = this.#holds.get(id);
    if (hold === undefined) return;
    this.#holds.delete(id);
    this.#options.breakers.close(hold.url);
  }
}

/** Undefined when it is not known to be down. */
const downSince = (known: State | undefined): number | undefined =>
  known?.state === "down" ? (known.sinceMs ?? 0) : undefined;

function reasonOf({ state, sinceMs }: EndpointHealth, incident: string): string {
  const isKnown = state !== "unknown" && sinceMs !== undefined;
  const since = isKnown ? ` since ${new Date(sinceMs).toISOString()}` : "";
  return `${state === "flapping" ? state : "down"}${since}, incident ${incident}`;
}

/**
 * Lets the monitor's findings decide where queries are sent: while an incident is open because nothing answers, the
 * endpoint's breaker is held open from each failed probe to the next turn; when the incident closes, so does the breaker.
 * Every process does this with what its own monitor has in memory, so that none of it is shared a second time.
 */
export function applyHealth(options: AppliedHealthOptions): AppliedHealth {
  return new HealthApplication(options);
}
