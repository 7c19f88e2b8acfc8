import { FedwayError } from "../errors/fedway-error.ts";
import { createHostedEndpoint, type HostedLimits } from "./create-hosted-endpoint.ts";
import type { HostedAnswer, HostedEndpoint, HostedQuery } from "./hosted-endpoint.ts";
import type { HostedSource } from "./worker-protocol.ts";

/** An endpoint that is opened when somebody asks it. */
export interface PooledEndpointOptions {
  readonly id: string;
  readonly triples: number;
  readonly source: HostedSource;
}

/** Any number of hosted endpoints, of which only some have a worker at a time. */
export interface EndpointPool {
  endpoint(options: PooledEndpointOptions): HostedEndpoint;
  close(): Promise<void>;
}

/** How a pool is made. */
export interface EndpointPoolOptions {
  readonly limits: HostedLimits;
  /** Workers at once; a query that needs one more takes that of the endpoint that was idle longest, or waits for one. */
  readonly maxOpen: number;
  /** Default: a real endpoint. */
  readonly open?: (options: PooledEndpointOptions & { readonly limits: HostedLimits }) => Promise<HostedEndpoint>;
}

interface Slot {
  readonly opened: Promise<HostedEndpoint>;
  asking: number;
}

/** A pool of endpoints over a bounded number of workers. */
export function createEndpointPool(options: EndpointPoolOptions): EndpointPool {
  const pool = new Pool(options);
  return {
    endpoint: (wanted) => ({
      id: wanted.id,
      triples: wanted.triples,
      query: (request) => pool.query(wanted, request),
      close: () => pool.evict(wanted),
    }),
    close: () => pool.close(),
  };
}

class Pool {
  readonly #options: EndpointPoolOptions;
  /** In order of use. */
  readonly #slots = new Map<PooledEndpointOptions, Slot>();
  readonly #waiting = new Set<() => void>();
  #closed = false;

  constructor(options: EndpointPoolOptions) {
    this.#options = options;
  }

  async query(wanted: PooledEndpointOptions, request: HostedQuery): Promise<HostedAnswer> {
    const slot = await this.#slotFor(wanted, request.signal);
    slot.asking += 1;
    try {
      const endpoint = await slot.opened;
      return await endpoint.query(request);
    } finally {
      slot.asking -= 1;
      this.#wake();
    }
  }

  /** Ends the worker of one endpoint. */
  async evict(wanted: PooledEndpointOptions): Promise<void> {
    const slot = this.#slots.get(wanted);
    if (slot === undefined) return;
    this.#slots.delete(wanted);
    await closeSlot(slot);
    this.#wake();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
    await Promise.all([...this.#slots.keys()].map((each) => this.evict(each)));
  }

  async #slotFor(wanted: PooledEndpointOptions, signal: AbortSignal): Promise<Slot> {
    for (;;) {
      if (this.#closed) throw new FedwayError("ENDPOINT_FAILED", `The hosted endpoint ${wanted.id} is closed.`);
      const known = this.#slots.get(wanted);
      if (known !== undefined) return this.#use(wanted, known);
      if (this.#slots.size < this.#options.maxOpen) return this.#open(wanted);
      const idle = [...this.#slots].find(([, { asking }]) => asking === 0);
      if (idle !== undefined) void this.evict(idle[0]);
      else await this.#turn(signal);
    }
  }

  #use(wanted: PooledEndpointOptions, slot: Slot): Slot {
    this.#slots.delete(wanted);
    this.#slots.set(wanted, slot);
    return slot;
  }

  #open(wanted: PooledEndpointOptions): Slot {
    const { limits, open = createHostedEndpoint } = this.#options;
    const slot: Slot = { opened: open({ ...wanted, limits }), asking: 0 };
    this.#slots.set(wanted, slot);
    // One that could not be opened is tried anew by the next query.
    slot.opened.catch(() => {
      if (this.#slots.get(wanted) === slot) this.#slots.delete(wanted);
    });
    return slot;
  }

  /** Waits until something has changed. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancelled = (): void => {
        this.#waiting.delete(awake);
        reject(new FedwayError("CANCELLED", "The request was cancelled while it waited for a hosted endpoint."));
      };
      const awake = (): void => {
        signal.removeEventListener("abort", cancelled);
        resolve();
      };
      if (signal.aborted) return cancelled();
      signal.addEventListener("abort", cancelled, { once: true });
      this.#waiting.add(awake);
    });
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const awake of waiting) awake();
  }
}

async function closeSlot({ opened }: Slot): Promise<void> {
  const endpoint = await opened.catch(() => undefined);
  await endpoint?.close();
}
