import { type EndpointPool, storeMemoryMb } from "../endpoint-pool.ts";
import type { HostedEndpoint } from "../hosted-endpoint.ts";
import { scriptBeside } from "../../workers/child-process.ts";
import type { HostedSource } from "../store-thread.ts";
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

function exampleSource(id: string): HostedSource {
  const url = scriptBeside(import.meta.url, "example-data").href;
  return { kind: "module", url, name: "exampleData", argument: id, bytes: largest.bytes };
}
