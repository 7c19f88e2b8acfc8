import { fileURLToPath } from "node:url";
import { packageFile } from "../package-file.ts";
import { type EndpointPool, storeMemoryMb } from "./endpoint-pool.ts";
import type { HostedEndpoint } from "./hosted-endpoint.ts";

/** The example endpoints by catalogue id; their URLs are `/hosted/{id}/sparql`. */
export type ExampleFederation = ReadonlyMap<string, HostedEndpoint>;

/** Catalogue ids; the data of each is in a file of this name. */
const exampleIds = ["museums", "people", "places", "library", "weather"] as const;

const dataFolder = packageFile("catalog/examples/data/");

/** More than the largest of them has. */
const largest = { bytes: 800_000, triples: 7_500 };

/** Hosts the example endpoints. */
export function createExampleFederation(pool: EndpointPool, roomMb: number): ExampleFederation {
  const memoryMb = storeMemoryMb(largest, roomMb);
  const endpointOf = (id: string): HostedEndpoint => {
    const path = fileURLToPath(new URL(`${id}.nt.gz`, dataFolder));
    return pool.endpoint({ id, source: { kind: "files", files: [{ path }] }, memoryMb });
  };
  return new Map(exampleIds.map((id) => [id, endpointOf(id)]));
}
