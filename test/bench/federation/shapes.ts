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
import { shapesOverMembers } from "./shapes/over-members.ts";
import { type Shape, shapes } from "./shapes/queries.ts";
import { printComparison, progress, writeComparison } from "./show.ts";

const [requestAim, byteAim] = [1.05, 1.5];

/** A list of queries, the names of their endpoints, and how they are asked. */
interface Family {
  readonly shapes: readonly Shape[];
  readonly names: readonly string[];
  readonly withService: boolean;
  readonly readBytes?: number;
  /** Of the data. Round numbers of rows are looked into: the answer may have been cut there. */
  readonly share: number;
}

const families: readonly Family[] = [
  { shapes, names: ["a", "b", "c", "d"], withService: true, share: 1 },
  { shapes: shapesOverMembers, names: ["b", "c"], withService: false, readBytes: 1_000_000, share: 1.03 },
];

/**
 * Queries that say with SERVICE where things are, and queries over two members that are too large to be read.
 * @throws Error when an answer of Fedway's is wrong
 */
export async function runShapesBench(options: FederationOptions): Promise<void> {
  const results: Measured[] = [];
  for (const family of families) results.push(...(await measureFamily(family, options)));
  printComparison(results);
  const targets = [
    ...heldOf(results),
    ...excess(results, "requests", requestAim),
    ...excess(results, "bytes", byteAim),
    ...ratios(results),
  ];
  process.stdout.write(`${targets.join("\n")}\n`);
  await writeComparison("federation-shapes", results, { targets });
  expectFedwayRight(results);
}

async function measureFamily(family: Family, options: FederationOptions): Promise<readonly Measured[]> {
  const wanted = family.shapes.filter(({ name }) => options.queries.length === 0 || options.queries.includes(name));
  if (wanted.length === 0) return [];
  const { names, withService, readBytes, share } = family;
  const data = Object.fromEntries(Object.entries(shapeData(share)).filter(([name]) => names.includes(name)));
  const members = await startMembers(data);
  const results: Measured[] = [];
  const peers: Peer[] = [];
  try {
    await startPeers(members.urls, { ...options, withService, readBytes }, peers);
    const checkOf = createCheck(data);
    for (const latencyMs of latenciesOf(options)) {
      await members.setLatency(latencyMs);
      for (const shape of wanted) {
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
  return results;
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
      ask: (signal: AbortSignal) =>
        (text.includes("SERVICE") ? (peer.askAnywhere ?? peer.ask) : peer.ask)(text, signal),
    })),
  ];
}

/** The oracle: each endpoint is a named graph of one store, and SERVICE is GRAPH; the default graph has them all. */
function createCheck(data: Readonly<Record<string, string>>): (shape: Shape) => Task["check"] {
  const store = new oxigraph.Store();
  for (const [name, text] of Object.entries(data)) {
    store.load(text, { format: "nt" });
    store.load(text, { format: "nt", to_graph_name: oxigraph.namedNode(`urn:member:${name}`) });
  }
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

/** At how many shapes Fedway keeps to both aims. */
function heldOf(results: readonly Measured[]): readonly string[] {
  const own = results.filter(({ peer }) => peer === "Fedway");
  return [...Map.groupBy(own, ({ latencyMs }) => latencyMs)].map(([latencyMs, each]) => {
    const among = results.filter((one) => one.latencyMs === latencyMs);
    const isHeld = ({ query }: Measured): boolean => {
      const both = among.filter((one) => one.query === query);
      return excess(both, "requests", requestAim).length + excess(both, "bytes", byteAim).length === 0;
    };
    return `${latencyMs} ms latency: ${each.filter(isHeld).length} of ${each.length} shapes within ${requestAim} x requests and ${byteAim} x bytes`;
  });
}

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
