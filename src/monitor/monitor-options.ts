import type { Store } from "../store/store.ts";
import type { Clock } from "../clock.ts";
import type { Catalog, EditableCatalog } from "../registry/catalog/catalog.ts";
import type { IncidentNotice } from "./health-record.ts";
import type { History } from "./history.ts";
import type { Score } from "./monitor.ts";
import type { EndpointProbe } from "./probe-endpoint.ts";

/** When endpoints are probed and what follows; `MonitorConfig` of the configuration fits. */
export interface MonitorSettings {
  readonly enabled: boolean;
  readonly everyMs: number;
  /** As a share of `everyMs`, 0 to 0.5. */
  readonly jitter: number;
  /** Faults in a row that open an incident. */
  readonly incidentAfter: number;
  /** Good probes in a row that close it. */
  readonly recoveredAfter: number;
}

/** What a monitor is made of. */
export interface MonitorOptions {
  readonly catalog: Pick<Catalog, "entries" | "byId"> & Partial<Pick<EditableCatalog, "onChange">>;
  readonly store: Store;
  readonly history: History;
  readonly probe: EndpointProbe;
  readonly clock: Clock;
  readonly settings: MonitorSettings;
  /** This process probes; else it reads what others found, and hands on what its traffic tells. */
  readonly work: boolean;
  /** No other process works on this store: there is nothing to be read again. */
  readonly soleOwner: boolean;
  readonly score?: (endpoint: string) => Promise<Score | undefined>;
  /**
   * Takes over that an incident opened or closed; called by one process, again after a failure or a crash. Calls for the
   * same kind and incident are the same message.
   */
  readonly tell?: (notice: IncidentNotice) => Promise<void>;
  /** Hears what goes wrong inside and is tried again. */
  readonly onFault?: (error: unknown) => void;
  /** Hears of each probe that could not be begun within an interval. */
  readonly onDropped?: (endpoint: string) => void;
  /** Names this process in leases; default: a random one. */
  readonly owner?: string;
  /** Milliseconds between two looks for turns; default 1,000. */
  readonly tickMs?: number;
  /** Milliseconds between two looks at what other processes wrote; default 5,000. */
  readonly refreshMs?: number;
  /** Probes under way at once; default 32. */
  readonly atOnce?: number;
}
