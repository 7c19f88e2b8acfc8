import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { type EndpointPool, storeMemoryMb } from "../hosting/endpoint-pool.ts";
import { fileSource } from "../hosting/file-data.ts";
import type { HostedEndpoint } from "../hosting/hosted-endpoint.ts";
import type { LocalDispatch } from "../outbound/sparql-client.ts";
import { createShardHost, type ShardHost } from "../shards/service/host.ts";
import { shardTaskRunner } from "../shards/service/run-task.ts";
import { createShardService, type ShardServiceParts } from "../shards/service/shard-service.ts";
import { scriptBeside } from "../workers/child-process.ts";

/** The shards of the service before there is a catalogue: what is hosted can be asked. */
export interface HostedShards {
  readonly host: ShardHost<HostedEndpoint>;
  /** Answers this service's own `/shards/{dataset}/{shard}/sparql` URLs in-process. */
  readonly local: LocalDispatch;
}

interface HostParts {
  readonly config: Config;
  readonly log: Logger;
  readonly pool: EndpointPool;
}

/** Hosts the finished shards of the data folder and of `FEDWAY_SHARDS`. */
export async function hostShards({ config, log, pool }: HostParts): Promise<HostedShards> {
  const { dataDir, limits, publicUrl, shards } = config;
  const host = createShardHost({
    root: join(dataDir, "shards"),
    folders: shards,
    hostShard: (dataset, { id, triples, path, sha256, lineBytes: bytes }) =>
      pool.endpoint({
        id: `${dataset}/${id}`,
        source: fileSource([{ path, sha256 }], bytes),
        memoryMb: storeMemoryMb({ bytes, triples }, limits.hostedMemoryMb),
      }),
    onRefused: (folder, reason) => log.warn({ folder, reason }, "shards are not hosted"),
  });
  await host.scan();
  const prefix = `${publicUrl}/shards/`;
  return {
    host,
    local: (url) => {
      if (!url.startsWith(prefix)) return undefined;
      const [dataset = "", shard = "", last, ...more] = url.slice(prefix.length).split("/");
      const endpoint = last === "sparql" && more.length === 0 ? host.endpoint(dataset, shard) : undefined;
      return endpoint && ((query) => endpoint.query(query));
    },
  };
}

/** Shards with everything around them: registered, built and verified on request. */
export type Shards = ReturnType<typeof openShards>;

/** Opens the shards of the service; their work runs in processes of `shard-process.ts`. */
export const openShards = (
  parts: Omit<ShardServiceParts<HostedEndpoint>, "config" | "runTask"> & { readonly config: Config },
) => createShardService({ ...parts, runTask: shardRunner(parts.config) });

/** Runs pieces of work on shards in processes of their own. */
export const shardRunner = ({ limits }: { readonly limits: Pick<Config["limits"], "shardMemoryMb"> }) =>
  shardTaskRunner(scriptBeside(import.meta.url, "shard-process"), limits.shardMemoryMb);
