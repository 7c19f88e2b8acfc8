import type { BenchServers, MeasuredServer } from "./bench-servers.ts";
import { cpuSeconds } from "./process-stats.ts";
import { median } from "./report.ts";
import { type LoadResult, runLoad } from "./wrk.ts";

/** One round: nginx and Fedway under the same load, one directly after the other. */
export interface Round {
  readonly nginx: RoundResult;
  readonly fedway: RoundResult;
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
  /** Every request is a new one. */
  readonly isNew?: boolean;
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
}

let runs = 0;

/** Alternates nginx and Fedway, changing who goes first with every round. */
export async function alternate(servers: BenchServers, comparison: Comparison): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  for (let index = 0; index < comparison.rounds; index++) {
    const measureNginx = () => measure(servers, servers.nginx, { ...comparison, path: comparison.nginxPath });
    const measureFedway = () => measure(servers, servers.fedway, { ...comparison, path: comparison.fedwayPath });
    if (index % 2 === 0) {
      const nginx = await measureNginx();
      rounds.push({ nginx, fedway: await measureFedway() });
    } else {
      const fedway = await measureFedway();
      rounds.push({ nginx: await measureNginx(), fedway });
    }
  }
  return rounds;
}

/** One server under load. */
export async function measure(
  servers: BenchServers,
  server: MeasuredServer,
  load: Pick<Comparison, "isNew" | "connections" | "seconds"> & { readonly path: string },
): Promise<RoundResult> {
  const { path, connections, seconds, isNew } = load;
  const before = cpuSeconds(server.pid);
  const result = await runLoad(
    { origin: server.origin, path, connections, seconds, ...(isNew && { run: ++runs }) },
    servers.loadWrapper,
  );
  const cpuUs = (cpuSeconds(server.pid) - before) * 1e6;
  return { ...result, cpuUsPerRequest: cpuUs / result.requests, cpuUsPerKilobyte: cpuUs / (result.bytes / 1e3) };
}

/** The median over the rounds of a number of each round. */
export const medianOf = (rounds: readonly Round[], pick: (round: Round) => number): number => median(rounds.map(pick));
