import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { countFailures } from "../../../src/telemetry/work-metrics.ts";

class Port {
  readonly name = "port";
  readonly #error: unknown;

  constructor(error?: unknown) {
    this.#error = error;
  }

  async work(value: string): Promise<string> {
    if (this.#error !== undefined) throw this.#error;
    return value;
  }

  plain(): number {
    return 7;
  }
}

async function failuresOf(error: unknown): Promise<number> {
  let failures = 0;
  const port = countFailures(new Port(error), () => {
    failures += 1;
  });
  await expect(port.work("x")).rejects.toBe(error);
  return failures;
}

describe("a port that counts its failures", () => {
  it("does what it did", async () => {
    const port = countFailures(new Port(), () => expect.fail("nothing has failed"));
    expect([port.name, await port.work("x"), port.plain(), port.work === port.work]).toEqual(["port", "x", 7, true]);
  });

  it("counts only that the store failed, and throws the very error", async () => {
    expect(await failuresOf(new FedwayError("STORE_FAILED", "full disk"))).toBe(1);
    expect(await failuresOf(new FedwayError("REQUEST_INVALID", "no such key"))).toBe(0);
    expect(await failuresOf(new Error("other"))).toBe(0);
    expect(await failuresOf(null)).toBe(0);
  });
});
