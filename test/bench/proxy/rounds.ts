import type { BenchServers, MeasuredServer } from "./bench-servers.ts";
import { cpuSeconds } from "./process-stats.ts";
import { hasNew } from "./queries.ts";
import { median } from "./report.ts";
import { type LoadResult, runLoad } from "./wrk.ts";

/** One round: all under the same load, one directly after the other. */
export interface Round {
  readonly nginx: RoundResult;
  readonly fedway: RoundResult;
  readonly bare?: RoundResult;
}

/** A load result with the processor time that the server used for it. */
export interface RoundResult extends LoadResult {
  readonly cpuUsPerRequest: number;
  readonly cpuUsPerKilobyte: number;
}

/** What to alternate. */
export interface Comparison {
  readonly nginxPath: string;
  readonly fedwayPath: string;
  /** The bare proxy takes part. */
  readonly withBare?: boolean;
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

let runs = 0;

/** Measures nginx, Fedway and, where wanted, the bare proxy in turns, changing who goes first with every round. */
export async function alternate(servers: BenchServers, comparison: Comparison): Promise<readonly Round[]> {
  const { nginxPath, fedwayPath, withBare = false } = comparison;
  const load = (server: MeasuredServer, path: string) => measure(servers, server, { ...comparison, path });
  const rounds: Round[] = [];
  for (let index = 0; index < comparison.rounds; index++) {
    const fedwayFirst = index % 2 === 1;
    const early = fedwayFirst ? await load(servers.fedway, fedwayPath) : undefined;
    const bare = withBare ? await load(servers.bare, nginxPath) : undefined;
    const nginx = await load(servers.nginx, nginxPath);
    const fedway = early ?? (await load(servers.fedway, fedwayPath));
    rounds.push({ nginx, fedway, ...(bare && { bare }) });
  }
  return rounds;
}

/** One server under load. */
export async function measure(
  servers: BenchServers,
  server: MeasuredServer,
  load: Pick<Comparison, "connections" | "seconds"> & { readonly path: string },
): Promise<RoundResult> {
  const { path, connections, seconds } = load;
  const before = cpuSeconds(server.pid);
  const result = await runLoad(
    { origin: server.origin, path, connections, seconds, ...(hasNew(path) && { run: ++runs }) },
    servers.loadWrapper,
  );
  const cpuUs = (cpuSeconds(server.pid) - before) * 1e6;
  return { ...result, cpuUsPerRequest: cpuUs / result.requests, cpuUsPerKilobyte: cpuUs / (result.bytes / 1e3) };
}

/** The median over the rounds of a number of each round. */
export const medianOf = (rounds: readonly Round[], pick: (round: Round) => number): number => median(rounds.map(pick));
