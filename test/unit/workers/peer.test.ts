import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import {
  createPeer,
  type Channel,
  type Handled,
  type HandlerContext,
  type Message,
  type Peer,
} from "../../../src/workers/peer.ts";

/** Two peers over a channel in memory; messages arrive a turn later, as copies. The second one answers texts. */
function connect(answer?: (call: string, context: HandlerContext) => Promise<Handled>): {
  readonly caller: Peer<string>;
  readonly sent: Message[];
} {
  const sent: Message[] = [];
  const [left, right] = [createEnd(sent), createEnd(sent)];
  left.partner = right;
  right.partner = left;
  createPeer(right, answer && { answer });
  return { caller: createPeer(left), sent };
}

interface End extends Channel {
  partner?: End;
  receive(message: Message): void;
}

function createEnd(sent: Message[]): End {
  const listeners: ((message: Message) => void)[] = [];
  return {
    send(message) {
      sent.push(message);
      setImmediate(() => this.partner?.receive(structuredClone(message)));
    },
    onMessage: (listener) => void listeners.push(listener),
    receive(message) {
      for (const listener of listeners) listener(message);
    },
  };
}

const never = new AbortController().signal;

async function* chunks(count: number, bytes = 10): AsyncIterable<Uint8Array> {
  for (let index = 0; index < count; index++) yield Buffer.alloc(bytes, 97 + (index % 26));
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await nextTurn();
};

describe("a call", () => {
  test("gets a head, bytes and an end", async () => {
    const { caller } = connect(async (call) => ({ head: { call }, body: chunks(3), end: () => "over" }));
    const { head, body, end } = await caller.call<{ call: string }, string>("letters", { signal: never });
    expect(head).toEqual({ call: "letters" });
    expect(await text(body)).toBe("aaaaaaaaaabbbbbbbbbbcccccccccc");
    expect(await end).toBe("over");
  });

  test("of what nobody answers fails", async () => {
    const { caller } = connect();
    await expect(caller.call("unknown", { signal: never })).rejects.toMatchObject({ code: "INTERNAL" });
  });

  test("fails with the error of its handler, its code and details", async () => {
    const thrown = new FedwayError("ENDPOINT_FAILED", "It failed.", {
      where: { endpoint: "a" },
      cause: new Error("why"),
    });
    const { caller } = connect(() => Promise.reject(thrown));
    await expect(caller.call("failing", { signal: never })).rejects.toMatchObject({
      code: "ENDPOINT_FAILED",
      message: "It failed.",
      details: { where: { endpoint: "a" }, cause: expect.stringContaining("why") },
    });
  });

  test("that fails behind its head destroys the body", async () => {
    async function* broken(): AsyncIterable<Uint8Array> {
      yield Buffer.from("begun");
      throw new FedwayError("ENDPOINT_BROKE_OFF", "It broke off.");
    }
    const { caller } = connect(async () => ({ head: 1, body: broken() }));
    const { body, end } = await caller.call("broken", { signal: never });
    await expect(text(body)).rejects.toMatchObject({ code: "ENDPOINT_BROKE_OFF" });
    await expect(end).rejects.toMatchObject({ code: "ENDPOINT_BROKE_OFF" });
  });

  test("hears notes in order", async () => {
    const notes: unknown[] = [];
    const { caller } = connect(async (_call, context) => {
      context.note(1);
      context.note(2);
      return { head: 3 };
    });
    await caller.call("noting", { signal: never, onNote: (note) => notes.push(note) });
    expect(notes).toEqual([1, 2]);
  });

  test("sends no more than a few chunks that nobody reads, cut into pieces of 64 KiB", async () => {
    const { caller, sent } = connect(async () => ({ head: 0, body: chunks(100, 200_000) }));
    const { body } = await caller.call("large", { signal: never });
    await turns(50);
    const arrived = sent.filter(({ kind }) => kind === "bytes").length;
    expect(arrived).toBeLessThan(10);
    expect((await text(body)).length).toBe(20_000_000);
    for (const message of sent) if (message.kind === "bytes") expect(message.bytes.length).toBeLessThanOrEqual(65_536);
  });
});

describe("a call that is given up", () => {
  const waiting = () => {
    const seen: { reason?: unknown } = {};
    const peers = connect(async (_call, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      seen.reason = signal.reason;
      throw signal.reason;
    });
    return { seen, ...peers };
  };

  test("fails at once with the caller's reason, which the handler hears too", async () => {
    const { caller, seen } = waiting();
    const leaving = new AbortController();
    let settled = false;
    const call = caller.call("waiting", { signal: leaving.signal, onSettled: () => (settled = true) });
    await turns(3);
    leaving.abort(new FedwayError("DEADLINE_EXCEEDED", "Too late."));
    await expect(call).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(settled).toBe(false);
    await turns(5);
    expect(seen.reason).toMatchObject({ code: "DEADLINE_EXCEEDED", message: "Too late." });
    expect(settled).toBe(true);
  });

  test("is never made when it was given up before", async () => {
    const { caller, sent } = waiting();
    await expect(caller.call("waiting", { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(sent).toEqual([]);
  });

  test("by leaving its body stops the sender", async () => {
    let left = false;
    async function* endless(): AsyncIterable<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(1_000);
      } finally {
        left = true;
      }
    }
    const { caller } = connect(async () => ({ head: 0, body: endless() }));
    const { body } = await caller.call("endless", { signal: never });
    for await (const piece of body) {
      expect(piece).toHaveLength(1_000);
      break;
    }
    await turns(10);
    expect(left).toBe(true);
  });
});

test("when the channel ends, everything fails with one error, and what comes later too", async () => {
  const { caller } = connect((call) =>
    call === "head" ? Promise.resolve({ head: 0, body: chunks(1_000) }) : new Promise(() => {}),
  );
  const { body } = await caller.call("head", { signal: never });
  const settled: string[] = [];
  const call = caller.call("waiting", { signal: never, onSettled: () => settled.push("waiting") });
  const lost = new FedwayError("EVALUATION_LOST", "It is gone.");
  caller.close(lost);
  await expect(call).rejects.toBe(lost);
  await expect(text(body)).rejects.toBe(lost);
  await expect(caller.call("head", { signal: never })).rejects.toBe(lost);
  expect(settled).toEqual(["waiting"]);
});
