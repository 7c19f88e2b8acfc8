import { systemClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { createRegistryGraphs, type RegistryKnowledge } from "../dataset/registry-graphs.ts";
import { vocabularyQuads } from "../dataset/vocabulary.ts";
import { type EndpointPool, storeMemoryMb } from "../hosting/endpoint-pool.ts";

interface DatasetParts extends Pick<RegistryKnowledge, "monitor"> {
  readonly config: Config;
  readonly pool: EndpointPool;
  readonly registry: Omit<RegistryKnowledge, "monitor" | "publicUrl" | "clock" | "mostTriples">;
}

/** Triples for each endpoint on average, and bounds of all; fewer where the pool has no room for them and a query. */
const triplesEach = 2_500;
const [leastTriples, mostTriples] = [150_000, 500_000];
/** MB of a store without triples, with its thread, an answer and a small query; triples of one more. */
const [besideMb, triplesPerMb] = [160, 1_700];

/** The registry as one dataset, in a store of the pool that is filled when it is asked. */
export function openDataset({ config, pool, registry, monitor }: DatasetParts) {
  const { publicUrl, limits } = config;
  const fitting = Math.max((limits.hostedTotalMb * 3) / 4 - besideMb, 1) * triplesPerMb;
  const wanted = Math.max(triplesEach * registry.catalog.entries.length, leastTriples);
  const triples = Math.floor(Math.min(wanted, mostTriples, fitting));
  const source = createRegistryGraphs({ ...registry, monitor, publicUrl, clock: systemClock, mostTriples: triples });
  const memoryMb = storeMemoryMb({ bytes: 0, triples }, limits.hostedMemoryMb);
  return { endpoint: pool.endpoint({ id: "registry", source, memoryMb }), vocabulary: vocabularyQuads };
}
