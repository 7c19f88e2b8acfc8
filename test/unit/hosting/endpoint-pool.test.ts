import { describe, expect, it } from "vitest";
import { createEndpointPool, type EndpointPool } from "../../../src/hosting/endpoint-pool.ts";
import type { HostedEndpoint } from "../../../src/hosting/hosted-endpoint.ts";

/** A pool over scripted endpoints: what was opened and closed, and answers that wait to be let go. */
function scripted(maxOpen: number) {
  const events: string[] = [];
  const held: (() => void)[] = [];
  const failing = new Set<string>();
  const pool = createEndpointPool({
    limits: { timeoutMs: 1, memoryMb: 1, maxAnswerBytes: 1, maxQueue: 1 },
    maxOpen,
    open: async ({ id, triples }): Promise<HostedEndpoint> => {
      if (failing.delete(id)) throw new Error(`${id} does not open`);
      events.push(`open ${id}`);
      return {
        id,
        triples,
        query: ({ query }) =>
          new Promise((resolve) => {
            const answer = (): void => resolve({ mediaType: "text/plain", body: Buffer.from(`${id} ${query}`) });
            if (query === "wait") held.push(answer);
            else answer();
          }),
        close: async () => void events.push(`close ${id}`),
      };
    },
  });
  return { pool, events, held, failing };
}

const make = (pool: EndpointPool, id: string): HostedEndpoint =>
  pool.endpoint({ id, triples: 1, source: { kind: "text", text: "" } });

const never = new AbortController().signal;

const ask = async (endpoint: HostedEndpoint, query = "now", signal = never): Promise<string> =>
  (await endpoint.query({ query, kind: "bindings", accept: "*/*", signal, timeoutMs: 1 })).body.toString();

const settle = () => new Promise((done) => setImmediate(done));

describe("a pool of hosted endpoints", () => {
  it("opens an endpoint when it is asked, once", async () => {
    const { pool, events } = scripted(2);
    const [a] = [make(pool, "a"), make(pool, "b")];
    expect(events).toEqual([]);
    expect([await ask(a, "1"), await ask(a, "2")]).toEqual(["a 1", "a 2"]);
    expect(events).toEqual(["open a"]);
  });

  it("closes the one that was idle longest for another one", async () => {
    const { pool, events } = scripted(2);
    const [a, b, c] = [make(pool, "a"), make(pool, "b"), make(pool, "c")];
    await ask(a);
    await ask(b);
    await ask(a);
    await ask(c);
    expect(events).toContain("close b");
    await ask(a);
    expect(events.filter((event) => event.startsWith("open"))).toEqual(["open a", "open b", "open c"]);
  });

  it("lets a query wait while all workers are busy, then serves it", async () => {
    const { pool, events, held } = scripted(1);
    const first = ask(make(pool, "a"), "wait");
    await settle();
    const second = ask(make(pool, "b"));
    await settle();
    expect(events).toEqual(["open a"]);
    held[0]?.();
    expect([await first, await second]).toEqual(["a wait", "b now"]);
  });

  it("gives up a query that is cancelled while it waits", async () => {
    const { pool, held } = scripted(1);
    const first = ask(make(pool, "a"), "wait");
    await settle();
    const aborter = new AbortController();
    const second = ask(make(pool, "b"), "now", aborter.signal);
    await settle();
    aborter.abort();
    await expect(second).rejects.toMatchObject({ code: "CANCELLED" });
    held[0]?.();
    expect(await first).toBe("a wait");
  });

  it("tries anew after an endpoint could not be opened", async () => {
    const { pool, failing } = scripted(1);
    const a = make(pool, "a");
    failing.add("a");
    await expect(ask(a)).rejects.toThrow("a does not open");
    expect(await ask(a)).toBe("a now");
  });

  it("closes all and answers nobody afterwards, also who waited", async () => {
    const { pool, events, held } = scripted(1);
    const first = ask(make(pool, "a"), "wait");
    await settle();
    const second = ask(make(pool, "b"));
    await settle();
    const closed = pool.close();
    await expect(second).rejects.toMatchObject({ code: "ENDPOINT_FAILED" });
    held[0]?.();
    await Promise.all([first, closed]);
    expect(events).toEqual(["open a", "close a"]);
  });
});
