import { rounded } from "../proxy/report.ts";
import { type Contestant, difference, expectFedwayRight, type Measured, meanRatio, measure } from "./compare.ts";
import { type Members, startMembers } from "./members.ts";
import { type FederationOptions, latenciesOf } from "./options.ts";
import { answerByHand, createKnowledge, type Knowledge } from "./peers/hand.ts";
import { startPeers } from "./peers/start-peers.ts";
import type { Peer } from "./peers/peer.ts";
import { printComparison, progress, writeComparison } from "./show.ts";
import { generateShop } from "./shop/generate.ts";
import { type ShopQuery, shopQueries } from "./shop/queries.ts";

/** Queries over a shop federation that do not say where anything is. @throws Error when an answer of Fedway's is wrong */
export async function runShopBench(options: FederationOptions): Promise<void> {
  const results: Measured[] = [];
  const memory: Memory[] = [];
  for (const members of options.members) await measureShop(members, options, { results, memory });
  const targets = [...ratios(results), ...growth(results)];
  printComparison(results);
  for (const line of targets) process.stdout.write(`${line}\n`);
  for (const { peer, members, megabytes } of memory)
    process.stdout.write(`peak memory at ${members} members, ${peer}: ${rounded(megabytes)} MB\n`);
  await writeComparison("federation-shop", results, { memory, targets });
  expectFedwayRight(results);
}

interface Memory {
  readonly peer: string;
  readonly members: number;
  readonly megabytes: number;
}

interface Report {
  readonly results: Measured[];
  readonly memory: Memory[];
}

async function measureShop(count: number, options: FederationOptions, { results, memory }: Report): Promise<void> {
  const data = generateShop(count);
  const knowledge = createKnowledge(data);
  const members = await startMembers(data);
  const peers: Peer[] = [];
  try {
    await startPeers(members.urls, options, peers);
    for (const latencyMs of latenciesOf(options)) {
      await members.setLatency(latencyMs);
      for (const query of shopQueries) {
        if (options.queries.length > 0 && !options.queries.includes(query.name)) continue;
        const repetitions = options.quick ? 2 : 5;
        const right = knowledge.answer(query.text);
        const check = (rows: readonly string[]): string | undefined => difference(right, rows);
        for (const contestant of contestants(query, { peers, members, knowledge })) {
          const measured = await measure({ query: query.name, latencyMs, members, repetitions, check }, contestant);
          results.push(measured);
          progress(measured);
        }
      }
    }
    for (const peer of peers) {
      const bytes = peer.peakBytes?.();
      if (bytes !== undefined) memory.push({ peer: peer.name, members: count, megabytes: bytes / 1e6 });
    }
  } finally {
    for (const peer of peers) await peer.stop();
    await members.stop();
  }
}

interface Contest {
  readonly peers: readonly Peer[];
  readonly members: Members;
  readonly knowledge: Knowledge;
}

function contestants(query: ShopQuery, { peers, members, knowledge }: Contest): readonly Contestant[] {
  return [
    { peer: { name: "by hand", giveUp: async () => {} }, ask: () => answerByHand(query, members.urls, knowledge) },
    ...peers.map((peer) => ({ peer, ask: (signal: AbortSignal) => peer.ask(query.text, signal) })),
  ];
}

const ofPeer = (results: readonly Measured[], name: string): readonly Measured[] =>
  results.filter(({ peer }) => peer === name);

/** Fedway beside each of the others, at each size and latency. */
function ratios(results: readonly Measured[]): readonly string[] {
  const aims: readonly (readonly [peer: string, what: "ms" | "requests", aim: string])[] = [
    ["by hand", "ms", "1.3"],
    ["by hand", "requests", "1.3"],
    ["FedX", "ms", "0.5"],
    ["Comunica", "ms", "0.1"],
  ];
  const groups = Map.groupBy(results, ({ members, latencyMs }) => `${members} members, ${latencyMs} ms latency`);
  return [...groups].flatMap(([where, each]) =>
    aims.flatMap(([peer, what, aim]) => {
      const found = meanRatio(ofPeer(each, "Fedway"), ofPeer(each, peer), (one) => one[what]);
      if (!found) return [];
      return [
        `${where}: ${what} of Fedway / ${peer}: ${rounded(found.ratio)} over ${found.queries} queries (aim ${aim})`,
      ];
    }),
  );
}

/** Requests of the largest shop to those of the smallest, where the same members are needed. */
function growth(results: readonly Measured[]): readonly string[] {
  const sameMembers = new Set(shopQueries.flatMap(({ name, wide = false }) => (wide ? [] : [name])));
  const groups = Map.groupBy(ofPeer(results, "Fedway"), ({ latencyMs }) => latencyMs);
  return [...groups].flatMap(([latencyMs, each]) => {
    const narrow = each.filter(({ query }) => sameMembers.has(query));
    const sizes = narrow.map(({ members }) => members);
    const at = (size: number): readonly Measured[] => narrow.filter(({ members }) => members === size);
    const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
    const found = meanRatio(at(most), at(least), ({ requests }) => requests);
    if (least === most || !found) return [];
    return [
      `${latencyMs} ms latency: requests at ${most} / ${least} members, same members needed: ${rounded(found.ratio)} (aim 1.02)`,
    ];
  });
}
