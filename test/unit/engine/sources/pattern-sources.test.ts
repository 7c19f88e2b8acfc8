import { DataFactory } from "n3";
import { describe, expect, it } from "vitest";
import { BlockSizes } from "../../../../src/engine/clause-query.ts";
import {
  type SourceDocument,
  type SourceDocuments,
  createPatternSources,
  type MatchBounds,
  createFileSources,
} from "../../../../src/engine/sources/pattern-source.ts";
import { createClauseExecutor } from "../../../../src/engine/clause-executor.ts";
import { itemsOf } from "../../../../src/results/item-reader.ts";
import { ExecutionAccount } from "../../../../src/engine/execution-account.ts";
import { MergedGraph } from "../../../../src/engine/sources/merged-graph.ts";
import { createTpfSources } from "../../../../src/engine/sources/tpf-source.ts";
import { patternVariable } from "../../../../src/engine/sources/triple-pattern.ts";
import type { DocumentRequest } from "../../../../src/outbound/documents.ts";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { parseTurtle } from "../../../../src/rdf/turtle.ts";
import { createTpfPages } from "../../../support/tpf-server.ts";

const url = "http://file.example/data.ttl";
const all = { subject: patternVariable("s"), predicate: patternVariable("p"), object: patternVariable("o") };
const quads = (text: string) => parseTurtle(text, { baseIri: url, maxBytes: 1_000_000, maxQuads: 100_000 });

function toBounds(signal = new AbortController().signal): MatchBounds {
  return { signal, deadlineMs: 10_000, report: { endpoint: "file", requests: 0, bytes: 0, ms: 0, status: "pending" } };
}

function setUp(answer: (request: DocumentRequest) => Promise<Partial<SourceDocument>>) {
  const requests: DocumentRequest[] = [];
  let now = 1;
  const open = createFileSources({
    documents: {
      async fetch(request) {
        requests.push(request);
        return { url: request.url, mediaType: "text/turtle", quads: [], bytes: 10, ...(await answer(request)) };
      },
    },
    now: () => now,
  });
  return {
    requests,
    wait: (ms: number) => {
      now += ms;
    },
    count: (bounds = toBounds(), from = url) => countOf(open(from, bounds).match(all)),
    open,
  };
}

async function countOf(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of items) count++;
  return count;
}

describe("a file", () => {
  const two = quads("<x:a> <x:p> 1, 2 .");

  it("is fetched with its caps and indexed as a set", async () => {
    const { requests, count } = setUp(async () => ({ quads: [...two, ...two] }));
    const bounds = toBounds();
    expect(await count(bounds)).toBe(2);
    expect(requests[0]).toMatchObject({ url, maxBytes: 64 * 1024 * 1024, maxQuads: 500_000 });
    expect(bounds.report).toMatchObject({ requests: 1, bytes: 10 });
  });

  it("is kept for five minutes", async () => {
    const { requests, count, wait } = setUp(async () => ({ quads: two }));
    await count();
    wait(299_000);
    await count();
    expect(requests).toHaveLength(1);
    wait(2_000);
    await count();
    expect(requests).toHaveLength(2);
  });

  it("is one state for one execution", async () => {
    const { requests, open, wait } = setUp(async () => ({ quads: two }));
    const source = open(url, toBounds());
    await countOf(source.match(all));
    wait(400_000);
    await countOf(source.match(all));
    expect(await source.estimate({ ...all, object: patternVariable("x") })).toEqual({ triples: 2, requests: 0 });
    expect(requests).toHaveLength(1);
  });

  it("is one request for all who wait for it", async () => {
    const { requests, count } = setUp(async () => ({ quads: two }));
    expect(await Promise.all([count(), count(), count()])).toEqual([2, 2, 2]);
    expect(requests).toHaveLength(1);
  });

  it("is fetched on while one of those who wait is left, and not longer", async () => {
    const arrived = Promise.withResolvers<Partial<SourceDocument>>();
    const { requests, count } = setUp(() => arrived.promise);
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    const leaving = count(toBounds(first.signal));
    const staying = count(toBounds(second.signal));
    first.abort(new FedwayError("CANCELLED", "The client has left."));
    await expect(leaving).rejects.toMatchObject({ message: "The client has left." });
    expect(requests[0]?.signal.aborted).toBe(false);
    arrived.resolve({ quads: two });
    expect(await staying).toBe(2);
    const other = count(toBounds(third.signal), "http://file.example/other");
    third.abort(new FedwayError("CANCELLED", "All have left."));
    await expect(other).rejects.toMatchObject({ message: "All have left." });
    expect(requests[1]?.signal.aborted).toBe(true);
  });

  it("that is late is waited for until the deadline of each who waits, and not longer", async () => {
    const arrived = Promise.withResolvers<Partial<SourceDocument>>();
    const { requests, count } = setUp(() => arrived.promise);
    const patient = count();
    const late = count({ ...toBounds(), deadlineMs: 21, owner: { endpoint: "dump" } });
    await expect(late).rejects.toMatchObject({
      code: "ENDPOINT_TIMEOUT",
      details: { where: { endpoint: "dump" } },
    });
    expect(requests[0]?.signal.aborted).toBe(false);
    arrived.resolve({ quads: two });
    expect(await patient).toBe(2);
  });

  it("that nobody waits for any more is not fetched on, and asked for again", async () => {
    const { requests, count } = setUp(() => new Promise(() => {}));
    const late = () => count({ ...toBounds(), deadlineMs: 21 });
    await expect(late()).rejects.toMatchObject({ code: "ENDPOINT_TIMEOUT", details: { where: { endpoint: url } } });
    expect(requests[0]?.signal.reason).toMatchObject({ code: "ENDPOINT_TIMEOUT" });
    await expect(late()).rejects.toMatchObject({ code: "ENDPOINT_TIMEOUT" });
    expect(requests).toHaveLength(2);
  });

  it("that fails is asked for again", async () => {
    let failing = true;
    const { count } = setUp(async () => {
      if (failing) throw new FedwayError("ENDPOINT_FAILED", "No.");
      return { quads: two };
    });
    await expect(count()).rejects.toMatchObject({ code: "ENDPOINT_FAILED" });
    failing = false;
    expect(await count()).toBe(2);
  });
});

it.each(["file", "tpf"] as const)("a %s is fetched for its endpoint, as part of what is executed", async (kind) => {
  const owners = new Set<string>();
  const data = Array.from({ length: 5 }, (_, n) => `<x:s> <x:p> "${n}" .`).join("\n");
  const pages = createTpfPages(data, url, { pageSize: 3, format: "turtle" });
  const documents: SourceDocuments = {
    async fetch({ url: asked, endpoint, trace }) {
      owners.add(`${endpoint} ${String(trace)}`);
      const { body, mediaType } = pages(asked);
      return { url: asked, mediaType, quads: quads(body), bytes: body.length };
    },
  };
  const { signal, deadlineMs } = toBounds();
  const members = [{ id: "alpha", url, interface: kind }];
  const bounds = { signal, deadlineMs, partial: false, sources: new Map(), trace: "the run" };
  const account = new ExecutionAccount({ maxSolutions: 100, maxHeldBytes: 2 ** 20, now: () => 0 });
  const client = { query: () => expect.fail("nothing here speaks SPARQL"), close: async () => {} };
  const sizes = new BlockSizes();
  const graph = new MergedGraph(
    { members },
    {
      executor: createClauseExecutor({ client, bounds, account, sizes }),
      bounds,
      account,
      needs: { identified: () => false, patterns: [all] },
      sizes,
      openSource: createPatternSources({ documents, now: () => 0 }),
    },
  );
  expect(await countOf(itemsOf(graph.matches(all)))).toBeGreaterThanOrEqual(5);
  expect([...owners]).toEqual(["alpha the run"]);
});

describe("fragments", () => {
  const base = "http://frag.example/data";
  const data = Array.from({ length: 7 }, (_, n) => `<x:s${n}> <x:p> "${n}" .`).join("\n");
  function setUpTpf(next?: (url: string) => string, maxPages = 100) {
    const pages = createTpfPages(data, base, { pageSize: 3, format: "turtle", ...(next && { next }) });
    const requests: string[] = [];
    const open = createTpfSources({
      documents: {
        async fetch({ url: asked }) {
          requests.push(asked);
          const { body, mediaType } = pages(asked);
          const parsed = parseTurtle(body, { baseIri: asked, maxBytes: 1_000_000, maxQuads: 10_000 });
          return { url: asked, mediaType, quads: parsed, bytes: body.length };
        },
      },
      now: () => 0,
      maxPages,
    });
    return { open, requests };
  }

  it("are read page by page, the form once", async () => {
    const { open, requests } = setUpTpf();
    expect(await countOf(open(base, toBounds()).match(all))).toBe(7);
    expect(await countOf(open(base, toBounds()).match(all))).toBe(7);
    // The page with the form is the first page of everything.
    expect(requests).toHaveLength(3 + 3);
  });

  it("are estimated with the page that is read first", async () => {
    const { open, requests } = setUpTpf();
    const source = open(base, toBounds());
    expect(await source.estimate(all)).toEqual({ triples: 7, requests: 3 });
    const before = requests.length;
    expect(await countOf(source.match(all))).toBe(7);
    expect(requests.length - before).toBe(2);
  });

  it("are read once in one execution", async () => {
    const { open, requests } = setUpTpf();
    const source = open(base, toBounds());
    expect([await countOf(source.match(all)), await countOf(source.match(all))]).toEqual([7, 7]);
    expect(requests).toHaveLength(3);
  });

  it("that are empty take one request", async () => {
    const { open } = setUpTpf();
    const nothing = { ...all, predicate: DataFactory.namedNode("x:none") };
    expect(await open(base, toBounds()).estimate(nothing)).toEqual({ triples: 0, requests: 1 });
  });

  it("stop when nobody reads on", async () => {
    const { open, requests } = setUpTpf();
    for await (const _ of open(base, toBounds()).match(all)) break;
    expect(requests).toHaveLength(1);
  });

  it.each([
    ["go round in circles", () => `${base}?page=2`, 100],
    ["never end", (next: string) => `${next}&x=1`, 1],
  ])("that %s are partial", async (_, next, maxPages) => {
    const { open } = setUpTpf(next, maxPages);
    await expect(countOf(open(base, toBounds()).match(all))).rejects.toMatchObject({ code: "ENDPOINT_PARTIAL" });
  });
});
