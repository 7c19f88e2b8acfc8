import { createHostedEndpoint, type HostedLimits } from "../create-hosted-endpoint.ts";
import type { HostedEndpoint } from "../hosted-endpoint.ts";
import type { HostedSource } from "../worker-protocol.ts";
import { exampleIds } from "./example-data.ts";

/** The example endpoints, running. */
export interface ExampleFederation {
  /** By catalogue id; their URLs are `/hosted/{id}/sparql`. */
  readonly endpoints: ReadonlyMap<string, HostedEndpoint>;
  close(): Promise<void>;
}

/**
 * Hosts the example endpoints, each in a worker of its own that generates its data by itself.
 * @throws FedwayError `ENDPOINT_FAILED` when one of them does not start; the others are closed again
 */
export async function createExampleFederation(options: { readonly limits: HostedLimits }): Promise<ExampleFederation> {
  const starts = await Promise.allSettled(
    exampleIds.map((id) => createHostedEndpoint({ id, source: exampleSource(id), limits: options.limits })),
  );
  const started = starts.filter((start) => start.status === "fulfilled").map((start) => start.value);
  const close = async (): Promise<void> => {
    await Promise.all(started.map((endpoint) => endpoint.close()));
  };
  const failure = starts.find((start) => start.status === "rejected");
  if (failure !== undefined) {
    await close();
    throw failure.reason;
  }
  return { endpoints: new Map(started.map((endpoint) => [endpoint.id, endpoint])), close };
}

/** The module has the extension that this one has: TypeScript from source, JavaScript when compiled. */
function exampleSource(id: string): HostedSource {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const url = new URL(`./example-data.${extension}`, import.meta.url).href;
  return { kind: "module", url, name: "exampleData", argument: id };
}
