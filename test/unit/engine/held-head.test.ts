import { describe, expect, it } from "vitest";
import type { SourceReport } from "../../../src/engine/federation-engine.ts";
import { heldHead } from "../../../src/engine/held-head.ts";

const longMs = 600_000;
const member = (id: string, silent: boolean) => ({
  endpoint: { id, url: `http://${id}.example/` },
  clauses: 1,
  silent,
});
const pending = (endpoint: string): SourceReport => ({ endpoint, requests: 1, bytes: 0, ms: 0, status: "pending" });

interface Held {
  readonly heldHeadBytes?: number;
  readonly heldHeadMs?: number;
  /** Called before each piece. */
  readonly before?: (sources: Map<string, SourceReport>, piece: number) => void;
  readonly silent?: boolean;
}

/** Pieces of ten bytes; "fails" ends them with an error, "hangs" with nothing. */
async function* piecesOf(plan: readonly string[], before: (piece: number) => void): AsyncGenerator<Uint8Array> {
  for (const [index, what] of plan.entries()) {
    before(index);
    if (what === "fails") throw new Error("b failed");
    if (what === "hangs") await new Promise(() => {});
    yield Buffer.from(what.padEnd(10, "."));
  }
}

function hold(plan: readonly string[], how: Held = {}): Promise<AsyncIterable<Uint8Array>> {
  const sources = new Map([pending("a"), pending("b")].map((report) => [report.endpoint, report]));
  const { heldHeadBytes = 1_000, heldHeadMs = longMs, before, silent = false } = how;
  return heldHead(
    piecesOf(plan, (piece) => before?.(sources, piece)),
    {
      heldHeadBytes,
      heldHeadMs,
      plan: { members: ["a", "b"].map((id) => member(id, silent && id === "b")) },
      bounds: { sources },
    },
  );
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of body) text += Buffer.from(piece).toString().replaceAll(".", "");
  return text;
}

const answered = (sources: Map<string, SourceReport>, id: string): void => {
  sources.set(id, { ...pending(id), rows: 1 });
};

describe("the head of a federated answer", () => {
  it("leaves with an answer that is complete", async () => {
    expect(await textOf(await hold(["x", "y"]))).toBe("xy");
  });
  it("does not leave before a failure", async () => {
    await expect(hold(["x", "fails"], { before: (sources) => answered(sources, "a") })).rejects.toThrow("b failed");
  });
  it("leaves when each member has answered, and then a failure breaks the body off", async () => {
    const body = await hold(["x", "y", "fails"], {
      before: (sources, piece) => answered(sources, piece === 0 ? "a" : "b"),
    });
    await expect(textOf(body)).rejects.toThrow("b failed");
  });
  it("does not wait for a SILENT member", async () => {
    const held = hold(["x", "hangs"], { before: (sources) => answered(sources, "a"), silent: true });
    expect(await firstOf(await held)).toBe("x");
  });
  it("leaves when there are enough bytes", async () => {
    expect(await firstOf(await hold(["x", "y", "hangs"], { heldHeadBytes: 20 }))).toBe("x");
  });
  it("leaves some time after the first byte", async () => {
    expect(await firstOf(await hold(["x", "hangs"], { heldHeadMs: 5 }))).toBe("x");
  });
});

async function firstOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const { value } = await body[Symbol.asyncIterator]().next();
  return Buffer.from(value ?? [])
    .toString()
    .replaceAll(".", "");
}
