import { type Static, Type } from "typebox";
import { unknownId } from "../../../errors/unknown-id.ts";
import { jobKind } from "../../../jobs/job-kind.ts";
import type { JobContext, JobQueue } from "../../../jobs/job-queue.ts";
import type { Collection } from "../../../store/collection.ts";
import type { Capabilities } from "../../capabilities/capabilities.ts";
import type { Catalog, CatalogEntry } from "../../catalog/catalog.ts";
import { catalogId } from "../../catalog/statements.ts";
import type { DescriptionService } from "../../descriptions/description-service.ts";
import type { Harvest } from "./harvest.ts";
import type { Harvester } from "./harvester.ts";

interface ValueServiceOptions {
  readonly catalog: Pick<Catalog, "byId" | "entries">;
  readonly descriptions: Pick<DescriptionService, "get">;
  readonly harvester: Harvester;
  readonly harvests: Collection<Harvest>;
  readonly jobs: Pick<JobQueue, "enqueue">;
  /** Reads the examples that an endpoint publishes beside. */
  readonly examples: { read(entry: CatalogEntry, signal: AbortSignal): Promise<number> };
  readonly capabilities: (id: string) => Promise<Capabilities | undefined>;
  /** True if labels and values of an endpoint may be read. */
  readonly mayHarvest: (id: string) => boolean;
  /** Called with background failures. */
  readonly onFault: (error: unknown) => void;
}

const kindName = "harvest-values";
const payload = Type.Object({ id: catalogId, isPolite: Type.Optional(Type.Boolean()) });
/** After descriptions, which more depends on. */
const priority = -100;

/**
 * Labels and values of endpoints, and the examples that they publish, are read in the background after each new description, and
 * stored; the models follow the store.
 */
export function createValueService(options: ValueServiceOptions) {
  const { harvests, jobs, mayHarvest, onFault } = options;
  return {
    /** The job that reads one endpoint; to be started with the queue. */
    kind: jobKind(payload, {
      name: kindName,
      needs: "the id of an endpoint",
      run: (asked, context) => readEndpoint(options, asked, context),
      concurrency: 1,
    }),
    /** Has an endpoint read in the background, unless that is forbidden; only its examples when polite. Never rejects. */
    async request(id: string, isPolite: boolean): Promise<void> {
      if (!mayHarvest(id)) return;
      await jobs.enqueue(kindName, { id, isPolite }, { id: `harvest.${id}`, priority }).catch(onFault);
    },
    async remove(id: string): Promise<void> {
      await harvests.delete(id);
    },
  };
}

async function readEndpoint(
  options: ValueServiceOptions,
  { id, isPolite = false }: Static<typeof payload>,
  { signal, progress }: JobContext,
) {
  const { catalog, descriptions, harvester, harvests, capabilities, mayHarvest } = options;
  const entry = catalog.byId(id);
  const description = await descriptions.get(id);
  if (entry === undefined) throw unknownId("endpoint", id, catalog);
  if (description === undefined || entry.interface !== "sparql" || !mayHarvest(id)) return { id, rows: 0 };
  const result: Record<string, unknown> = { id };
  if (!isPolite) {
    const { url, method } = entry;
    const rowCap = entry.rowCap ?? (await capabilities(id))?.rowCap;
    const target = { endpoint: { id, url, method }, description, rowCap };
    const harvest = await harvester.harvest(target, { signal, onProgress: progress });
    await harvests.put(id, harvest);
    const { rows, complete, cost } = harvest;
    Object.assign(result, { rows: rows.length, complete, cost });
  }
  try {
    return { ...result, examples: await options.examples.read(entry, signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return result;
  }
}
