import { type EndpointPool, storeMemoryMb } from "../endpoint-pool.ts";
import type { HostedEndpoint } from "../hosted-endpoint.ts";
import type { HostedSource } from "../store-worker.ts";
import { exampleIds } from "./example-data.ts";

/** The example endpoints by catalogue id; their URLs are `/hosted/{id}/sparql`. */
export type ExampleFederation = ReadonlyMap<string, HostedEndpoint>;

/** More than the largest of them has. */
const largest = { bytes: 800_000, triples: 7_500 };

/** Hosts the example endpoints. Each of them generates its data by itself when it is asked for the first time. */
export function createExampleFederation(pool: EndpointPool, roomMb: number): ExampleFederation {
  const memoryMb = storeMemoryMb(largest, roomMb);
  return new Map(exampleIds.map((id) => [id, pool.endpoint({ id, source: exampleSource(id), memoryMb })]));
}

/** The module has the extension that this one has: TypeScript from source, JavaScript when compiled. */
function exampleSource(id: string): HostedSource {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const url = new URL(`./example-data.${extension}`, import.meta.url).href;
  return { kind: "module", url, name: "exampleData", argument: id, bytes: largest.bytes };
}
