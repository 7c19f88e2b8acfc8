import { join } from "node:path";
import { createCatalogFolder, endpointTurtle } from "./catalog-folder.ts";
import { type RunningService, startService } from "./running-service.ts";

/** An observation as the JSON API shows it. */
interface ObservationAnswer {
  readonly at: string;
  readonly ok: boolean;
  readonly fault?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly tries: number;
  readonly source: string;
  readonly maintenance?: boolean;
}

/** The turns of a window as the JSON API shows them. */
interface WindowAnswer {
  readonly window: string;
  readonly probes: number;
  readonly good: number;
  readonly uptime?: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly first?: string;
}

/** Answer of `GET /api/endpoints/{id}/availability`. */
interface AvailabilityAnswer {
  readonly state: string;
  readonly since?: string;
  readonly last?: ObservationAnswer;
  readonly incident?: string;
  readonly maintenanceUntil?: string;
  readonly windows: readonly WindowAnswer[];
}

/** An incident as the JSON API shows it; evidence where it is shown alone. */
export interface IncidentAnswer {
  readonly id: string;
  readonly subject: string;
  /** Of an incident of one endpoint. */
  readonly endpoint?: string;
  readonly endpoints?: readonly string[];
  readonly state: string;
  readonly closedBy?: string;
  readonly fault: string;
  readonly faults: Readonly<Record<string, number>>;
  readonly evidence?: readonly ObservationAnswer[];
}

/** A service that probes its endpoints every second. */
export interface MonitoredService extends RunningService {
  /** The JSON at a path. @throws Error for a status that is not 2xx */
  json<Shape>(path: string, init?: RequestInit): Promise<Shape>;
  /** The text at a path. @throws Error for a status that is not 2xx */
  text(path: string): Promise<string>;
  /** A change: JSON in; JSON, or nothing, out. */
  change(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }>;
  availability(id: string): Promise<AvailabilityAnswer>;
  stateOf(id: string): Promise<string>;
  /** Turns of the last 24 hours. */
  turnsOf(id: string): Promise<WindowAnswer>;
  /** Newest first, without their evidence. */
  incidents(parameters?: string): Promise<readonly IncidentAnswer[]>;
  /** The value of a series such as `up{job="x"}`; undefined when it is not there. */
  metric(series: string): Promise<number | undefined>;
}

const watchful = {
  FEDWAY_MONITOR: "on",
  FEDWAY_FACTS: "off",
  FEDWAY_PROBE_EVERY_MS: "1000",
  FEDWAY_INCIDENT_AFTER: "2",
  FEDWAY_RECOVERED_AFTER: "2",
};

/**
 * A folder with an entry for each URL; a value that is no URL is taken as the entry's Turtle. Catalogue and state are
 * kept when the service is started on it again.
 */
export async function createMonitoredFolder(endpoints: Readonly<Record<string, string>>) {
  const folder = await createCatalogFolder();
  const entryOf = (id: string, text: string): string => (text.startsWith("http") ? endpointTurtle(id, text) : text);
  await folder.write(
    Object.fromEntries(Object.entries(endpoints).map(([id, text]) => [`${id}.ttl`, entryOf(id, text)])),
  );
  return {
    start: async (env: Readonly<Record<string, string>> = {}): Promise<MonitoredService> => {
      const kept = { FEDWAY_CATALOG: folder.path, FEDWAY_DATA_DIR: join(folder.path, "data") };
      return monitored(await startService({}, { ...kept, ...watchful, ...env }));
    },
  };
}

/** A service over a folder of its own. */
export async function startMonitored(
  endpoints: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<MonitoredService> {
  const folder = await createMonitoredFolder(endpoints);
  return folder.start(env);
}

async function good(url: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.ok) return response;
  throw new Error(`${url} is ${response.status}: ${(await response.text()).slice(0, 300)}`);
}

/** The value of a series in the text format of Prometheus. */
export function seriesIn(text: string, series: string): number | undefined {
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

function monitored(service: RunningService): MonitoredService {
  const { url } = service;
  const text = async (path: string): Promise<string> => (await good(url + path)).text();
  const json: MonitoredService["json"] = async (path, init) => (await (await good(url + path, init)).json()) as never;
  const availability = (id: string): Promise<AvailabilityAnswer> => json(`/api/endpoints/${id}/availability`);
  return {
    ...service,
    json,
    text,
    availability,
    async change(method, path, body) {
      const headers = { "Content-Type": "application/json" };
      const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
      const response = await fetch(url + path, { method, ...sent });
      const answer = await response.text();
      return { status: response.status, body: answer === "" ? undefined : (JSON.parse(answer) as unknown) };
    },
    stateOf: async (id) => (await availability(id)).state,
    async turnsOf(id) {
      const { windows } = await availability(id);
      const day = windows.find(({ window }) => window === "24h");
      if (day === undefined) throw new Error(`No window of 24 hours for ${id}`);
      return day;
    },
    incidents: async (parameters = "") =>
      (await json<{ incidents: readonly IncidentAnswer[] }>(`/api/incidents${parameters}`)).incidents,
    metric: async (series) => seriesIn(await text("/metrics"), series),
  };
}
