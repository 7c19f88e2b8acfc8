import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { SourceReport } from "../../../src/engine/reports.ts";
import { heldHead } from "../../../src/engine/held-head.ts";

const member = (id: string, silent: boolean) => ({
  endpoint: { id, url: `http://${id}.example/` },
  clauses: 1,
  silent,
});
const pending = (endpoint: string): SourceReport => ({ endpoint, requests: 1, bytes: 0, ms: 0, status: "pending" });

interface Held {
  readonly heldHeadBytes?: number;
  /** Called before each piece. */
  readonly before?: (sources: Map<string, SourceReport>, piece: number) => void;
  readonly silent?: boolean;
  readonly partial?: boolean;
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
  const { heldHeadBytes = 1_000, before, silent = false, partial = false } = how;
  return heldHead(
    piecesOf(plan, (piece) => before?.(sources, piece)),
    {
      heldHeadBytes,
      plan: { members: ["a", "b"].map((id) => member(id, silent && id === "b")) },
      bounds: { sources, partial },
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
  it("waits for nothing that was never asked", async () => {
    const before = (sources: Map<string, SourceReport>): void => {
      answered(sources, "a");
      sources.set("b", { ...pending("b"), requests: 0 });
    };
    expect(await firstOf(await hold(["x", "hangs"], { before }))).toBe("x");
  });
  it("waits for what is asked because of an answer", async () => {
    const before = (sources: Map<string, SourceReport>, piece: number): void => {
      answered(sources, "a");
      if (piece > 0) return;
      sources.delete("b");
      setImmediate(() => sources.set("b", pending("b")));
    };
    await expect(hold(["x", "y", "fails"], { before })).rejects.toThrow("b failed");
  });
  it("waits for a failure that is on its way, but for none that is taken", async () => {
    const before = (sources: Map<string, SourceReport>): void => {
      answered(sources, "a");
      sources.set("b", { ...pending("b"), status: "failed" });
    };
    await expect(hold(["x", "y", "fails"], { before })).rejects.toThrow("b failed");
    expect(await firstOf(await hold(["x", "hangs"], { before, partial: true }))).toBe("x");
  });
  it("waits however long an outcome takes", async () => {
    const sources = new Map([["b", pending("b")]]);
    const first = piecesOf(["x", "hangs"], () => {});
    const held = heldHead(first, { heldHeadBytes: 1_000, plan: { members: [] }, bounds: { sources, partial: false } });
    for (let looks = 0; looks < 20; looks++) await nextTurn();
    expect(await Promise.race([held, nextTurn("held")])).toBe("held");
    answered(sources, "b");
    expect(await firstOf(await held)).toBe("x");
  });
});

async function firstOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const { value } = await body[Symbol.asyncIterator]().next();
  return Buffer.from(value ?? [])
    .toString()
    .replaceAll(".", "");
}
