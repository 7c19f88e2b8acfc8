import oxigraph from "oxigraph";
import { rounded } from "../proxy/report.ts";
import {
  type Contestant,
  difference,
  expectFedwayRight,
  type Measured,
  meanRatio,
  measure,
  type Task,
} from "./compare.ts";
import { startMembers } from "./members.ts";
import { type FederationOptions, latenciesOf } from "./options.ts";
import { type Peer, rowsOfStore } from "./peers/peer.ts";
import { startPeers } from "./peers/start-peers.ts";
import { shapeData } from "./shapes/data.ts";
import { answerShapeByHand, withGraphs, withServices } from "./shapes/answer-by-hand.ts";
import { type Shape, shapes } from "./shapes/queries.ts";
import { printComparison, progress, writeComparison } from "./show.ts";

/** Queries that say with SERVICE where things are. @throws Error when an answer of Fedway's is wrong */
export async function runShapesBench(options: FederationOptions): Promise<void> {
  const data = shapeData();
  const members = await startMembers(data);
  const results: Measured[] = [];
  const peers: Peer[] = [];
  try {
    await startPeers(members.urls, { ...options, withService: true }, peers);
    const checkOf = createCheck(data);
    for (const latencyMs of latenciesOf(options)) {
      await members.setLatency(latencyMs);
      for (const shape of shapes) {
        if (options.queries.length > 0 && !options.queries.includes(shape.name)) continue;
        const repetitions = options.quick ? 2 : 5;
        const task = { query: shape.name, latencyMs, members, repetitions, check: checkOf(shape) };
        for (const contestant of contestants(shape, { peers, urls: members.urls })) {
          const measured = await measure(task, contestant);
          results.push(measured);
          progress(measured);
        }
      }
    }
  } finally {
    for (const peer of peers) await peer.stop();
    await members.stop();
  }
  printComparison(results);
  const targets = [...excess(results, "requests", 1.05), ...excess(results, "bytes", 1.5), ...ratios(results)];
  process.stdout.write(`${targets.join("\n")}\n`);
  await writeComparison("federation-shapes", results, { targets });
  expectFedwayRight(results);
}

function contestants(
  shape: Shape,
  { peers, urls }: { readonly peers: readonly Peer[]; readonly urls: Readonly<Record<string, string>> },
): readonly Contestant[] {
  const text = withServices(shape.text, urls);
  return [
    { peer: { name: "by hand", giveUp: async () => {} }, ask: () => answerShapeByHand(shape, urls) },
    ...peers.map((peer) => ({
      peer,
      ask: (signal: AbortSignal) => (peer.askAnywhere ?? peer.ask)(text, signal),
    })),
  ];
}

/** The oracle: each endpoint is a named graph of one store, and SERVICE is GRAPH. */
function createCheck(data: Readonly<Record<string, string>>): (shape: Shape) => Task["check"] {
  const store = new oxigraph.Store();
  for (const [name, text] of Object.entries(data))
    store.load(text, { format: "nt", to_graph_name: oxigraph.namedNode(`urn:member:${name}`) });
  return ({ text, limit }) => {
    const right = rowsOfStore(store, withGraphs(limit === undefined ? text : text.replace(/ LIMIT \d+$/u, "")));
    if (limit === undefined) return (rows) => difference(right, rows);
    const among = new Set(right);
    return (rows) =>
      rows.length === limit && new Set(rows).size === limit && rows.every((row) => among.has(row))
        ? undefined
        : `${rows.length} rows instead of any ${limit} of ${right.length}`;
  };
}

const bytesOf = ({ sentBytes, answerBytes }: Measured): number => sentBytes + answerBytes;

/** Where Fedway asks or moves more than so many times what the plan by hand does. */
function excess(results: readonly Measured[], what: "requests" | "bytes", aim: number): readonly string[] {
  const of = what === "requests" ? ({ requests }: Measured): number => requests : bytesOf;
  return results.flatMap((mine) => {
    if (mine.peer !== "Fedway") return [];
    const hand = results.find(
      ({ peer, query, latencyMs }) => peer === "by hand" && query === mine.query && latencyMs === mine.latencyMs,
    );
    if (!hand || of(mine) <= aim * of(hand)) return [];
    return [
      `${what} above ${aim} x the plan by hand: ${mine.query} at ${mine.latencyMs} ms: ${rounded(of(mine))} / ${rounded(of(hand))}`,
    ];
  });
}

function ratios(results: readonly Measured[]): readonly string[] {
  return [...Map.groupBy(results, ({ latencyMs }) => latencyMs)].flatMap(([latencyMs, each]) =>
    [...new Set(each.map(({ peer }) => peer))].flatMap((other) => {
      const found = meanRatio(
        each.filter(({ peer }) => peer === "Fedway"),
        each.filter(({ peer }) => peer === other),
        ({ ms }) => ms,
      );
      if (!found || other === "Fedway") return [];
      return [
        `${latencyMs} ms latency: time of Fedway / ${other}: ${rounded(found.ratio)} over ${found.queries} shapes`,
      ];
    }),
  );
}
