import { Type } from "typebox";
import { unknownId } from "../../errors/unknown-id.ts";
import type { Embedder } from "../../embeddings/embedder.ts";
import { jobKind } from "../../jobs/job-kind.ts";
import type { JobContext, JobQueue } from "../../jobs/job-queue.ts";
import type { Collection } from "../../store/collection.ts";
import type { Capabilities } from "../capabilities/capabilities.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { catalogId } from "../catalog/statements.ts";
import type { DescribedSchema } from "../model/described-schema.ts";
import type { EndpointModels } from "../model/endpoint-models.ts";
import type { DescriptionService } from "../void/description-service.ts";
import type { Harvest } from "./harvest.ts";
import type { Harvester } from "./harvester.ts";
import { createValueIndex } from "./value-index.ts";

interface ValueServiceOptions {
  readonly models: Pick<EndpointModels, "follow">;
  readonly catalog: Pick<Catalog, "byId" | "entries">;
  readonly descriptions: Pick<DescriptionService, "get">;
  readonly harvester: Harvester;
  readonly harvests: Collection<Harvest>;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly clock: { now(): number };
  /** Reads the examples that an endpoint publishes beside. */
  readonly examples: { read(entry: CatalogEntry, signal: AbortSignal): Promise<number> };
  readonly capabilities: (id: string) => Promise<Capabilities | undefined>;
  /** Whether labels and values of an endpoint may be read. */
  readonly mayHarvest: (id: string) => boolean;
  /** Lets values be found by their meaning. */
  readonly embedder?: Pick<Embedder, "embed"> | undefined;
  /** Called with what went wrong in the background; the index goes on with what it has. */
  readonly onFault: (error: unknown) => void;
}

const kindName = "harvest-values";
/** After descriptions, which more depends on. */
const priority = -100;

/**
 * A view of the models: labels and values of endpoints, and the examples that they publish, are read in the background after each new
 * description, and kept.
 */
export function createValueService(options: ValueServiceOptions) {
  const { models, harvests, jobs, mayHarvest, onFault } = options;
  const index = createValueIndex({ embedder: options.embedder, onFault });
  const openedAt = new Date(options.clock.now()).toISOString();
  /** A description that was made since the start is the occasion to read values anew. */
  const renew = async (id: string, { endpoint, finishedAt }: DescribedSchema): Promise<void> => {
    if (finishedAt < openedAt || !mayHarvest(id)) return;
    const known = await harvests.get(id);
    if (known?.describedAt === finishedAt && known.endpoint === endpoint) return;
    await jobs.enqueue(kindName, { id }, { id: `harvest.${id}`, priority });
  };
  const ignoreModels = models.follow({
    changed(after, before) {
      const id = (after ?? before)?.id;
      if (id === undefined) return;
      if (after?.values !== before?.values) index.set(id, after?.values);
      const described = after?.described;
      if (described !== before?.described && described) void renew(id, described).catch(onFault);
    },
  });
  return {
    index,
    /** The job that reads one endpoint; to be started with the queue. */
    kind: jobKind(Type.Object({ id: catalogId }), {
      name: kindName,
      needs: "the id of an endpoint",
      run: ({ id }, context) => harvestEndpoint(options, id, context),
      concurrency: 1,
    }),
    async remove(id: string): Promise<void> {
      await harvests.delete(id);
    },
    async close(): Promise<void> {
      ignoreModels();
      await index.close();
    },
  };
}

async function harvestEndpoint(options: ValueServiceOptions, id: string, { signal, progress }: JobContext) {
  const { catalog, descriptions, harvester, harvests, capabilities, mayHarvest } = options;
  const entry = catalog.byId(id);
  const description = await descriptions.get(id);
  if (entry === undefined) throw unknownId("endpoint", id, catalog);
  if (description === undefined || entry.interface !== "sparql" || !mayHarvest(id)) return { id, rows: 0 };
  const { url, method } = entry;
  const rowCap = entry.rowCap ?? (await capabilities(id))?.rowCap;
  const target = { endpoint: { id, url, method }, description, rowCap };
  const harvest = await harvester.harvest(target, { signal, onProgress: progress });
  await harvests.put(id, harvest);
  const { rows, complete, cost } = harvest;
  const result = { id, rows: rows.length, complete, cost };
  try {
    return { ...result, examples: await options.examples.read(entry, signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return result;
  }
}
