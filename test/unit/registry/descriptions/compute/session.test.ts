import type { WholeAnswer } from "../../../../../src/outbound/whole-answer.ts";
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../../../src/errors/codes.ts";
import { FedwayError } from "../../../../../src/errors/fedway-error.ts";
import { Session } from "../../../../../src/registry/descriptions/compute/run.ts";
import { type Clock, systemClock } from "../../../../../src/clock.ts";

type SessionOptions = ConstructorParameters<typeof Session>[0];

/** What an endpoint does with one request: an answer, perhaps slow or partial, or an error. */
type Step =
  | { readonly takesMs?: number; readonly partial?: WholeAnswer["partial"]; readonly bytes?: number }
  | {
      readonly code: ErrorCode;
      readonly retryAfterMs?: number;
      readonly takesMs?: number;
      readonly upstreamStatus?: number;
    };

interface Stage {
  readonly session: Session;
  /** Waits in milliseconds, in order. */
  readonly waits: readonly number[];
  readonly asked: readonly string[];
}

function stage(steps: readonly Step[], options: Partial<SessionOptions> = {}): Stage {
  let now = 1_700_000_000_000;
  const waits: number[] = [];
  const asked: string[] = [];
  const clock: Clock = {
    ...systemClock,
    now: () => now,
    setTimeout(run, ms) {
      waits.push(ms);
      now += ms;
      return systemClock.setTimeout(run, 0);
    },
  };
  const session = new Session({
    asker: {
      fetchDocument: () => Promise.reject(new Error("not used")),
      ask({ query }) {
        const step = steps[Math.min(asked.length, steps.length - 1)] ?? {};
        asked.push(query);
        now += step.takesMs ?? 1;
        return "code" in step ? Promise.reject(new FedwayError(step.code, "no", step)) : Promise.resolve(answer(step));
      },
    },
    clock,
    endpoint: { url: "http://endpoint.example/" },
    signal: new AbortController().signal,
    pauseMs: 0,
    queryTimeoutMs: 60_000,
    budget: { requests: 100, ms: 3_600_000, bytes: 1_000_000 },
    formats: undefined,
    records: [],
    ...options,
  });
  return { session, waits, asked };
}

function answer({
  partial,
  bytes = 10,
}: {
  readonly partial?: WholeAnswer["partial"];
  readonly bytes?: number;
}): WholeAnswer {
  const base = { rows: [], quads: [], variables: [], httpStatus: 200, mediaType: "", durationMs: 1, requests: 1 };
  return { ...base, bytes, ...(partial !== undefined && { partial }) };
}

const ask = (session: Session) => session.ask({ query: "ASK {}", level: 1 });

async function askTimes(session: Session, times: number): Promise<void> {
  for (let time = 0; time < times; time++) await ask(session);
}

describe("a session", () => {
  it("waits between two requests and keeps a record of each", async () => {
    const { session, waits } = stage([{ takesMs: 20 }], { pauseMs: 250 });
    await askTimes(session, 3);
    expect(waits).toEqual([250, 250]);
    expect(session.records[1]).toEqual({
      rung: 1,
      query: "ASK {}",
      durationMs: 20,
      at: "2023-11-14T22:13:20.270Z",
      outcome: "ok",
      httpStatus: 200,
    });
    expect(session.spent).toEqual({ requests: 3, bytes: 30, ms: 560 });
  });

  it.each<[string, Step, readonly number[]]>([
    ["as long as it was told", { code: "ENDPOINT_RATE_LIMITED", retryAfterMs: 7000 }, [7000]],
    ["a second, when it was not told", { code: "ENDPOINT_BUSY" }, [1000]],
    ["also for an endpoint that is gone", { code: "ENDPOINT_UNREACHABLE" }, [1000]],
  ])("waits %s and asks again", async (_name, step, expected) => {
    const { session, waits, asked } = stage([step, {}]);
    expect(await ask(session)).toMatchObject({ ok: true, record: 1 });
    expect([waits, asked.length]).toEqual([expected, 2]);
  });

  it.each<[string, readonly Step[], number, string]>([
    ["five time-outs in a row", [{ code: "ENDPOINT_TIMEOUT" }], 5, "timeouts"],
    ["ten failures in a row", [{ code: "ENDPOINT_FAILED" }], 10, "timeouts"],
    ["its requests", [{}], 100, "budget"],
    ["its bytes", [{ bytes: 300_000 }], 4, "budget"],
    ["its time", [{ takesMs: 1_000_000 }], 4, "budget"],
  ])("ends after %s", async (_name, steps, times, reason) => {
    const { session, asked } = stage(steps);
    await askTimes(session, times);
    await expect(ask(session)).rejects.toMatchObject({ reason });
    expect(asked).toHaveLength(times);
  });

  it.each<[string, Step, string]>([
    ["does not come back", { code: "ENDPOINT_UNREACHABLE" }, "unreachable"],
    ["wants to be left alone for an hour", { code: "ENDPOINT_RATE_LIMITED", retryAfterMs: 3_600_000 }, "busy"],
  ])("ends when the endpoint %s", async (_name, step, reason) => {
    await expect(ask(stage([step]).session)).rejects.toMatchObject({ reason });
  });

  it("is not ended by time-outs with answers between them", async () => {
    const slow: Step = { code: "ENDPOINT_TIMEOUT" };
    const { session, asked } = stage([slow, slow, slow, slow, {}, slow, slow, slow, slow, {}]);
    await askTimes(session, 10);
    expect(asked).toHaveLength(10);
  });

  it.each<[ErrorCode, string]>([
    ["ENDPOINT_TIMEOUT", "timeout"],
    ["ENDPOINT_REJECTED_QUERY", "refused"],
    ["ENDPOINT_NOT_SPARQL", "refused"],
    ["ENDPOINT_FAILED", "failed"],
    ["ENDPOINT_BROKE_OFF", "failed"],
    ["ANSWER_TOO_LARGE", "failed"],
  ])("takes %s for %s", async (code, why) => {
    const budget = { requests: 100, ms: 3_600_000, bytes: 10_000_000 };
    const { session } = stage([{ code, upstreamStatus: 418 }], { budget });
    expect(await ask(session)).toEqual({ ok: false, why, tooLarge: code === "ANSWER_TOO_LARGE", record: 0 });
    expect(session.records[0]).toMatchObject({ httpStatus: 418 });
  });

  it("ends with an answer that is larger than what is left of the budget", async () => {
    const { session } = stage([{ code: "ANSWER_TOO_LARGE" }]);
    await expect(ask(session)).rejects.toMatchObject({ reason: "budget" });
    expect(session.spent).toMatchObject({ requests: 1, bytes: 1_000_000 });
  });

  it("does not take a partial answer, or one near the time limit, for sound", async () => {
    const steps: Step[] = [{ takesMs: 1900 }, { code: "ENDPOINT_TIMEOUT", takesMs: 2000 }, { takesMs: 1900 }, {}];
    const { session } = stage([...steps, { partial: { how: "truncated", detail: "cut" } }]);
    const sound: unknown[] = [];
    for (let time = 0; time < 5; time++) {
      const outcome = await ask(session);
      sound.push(outcome.ok && outcome.sound);
    }
    expect(sound).toEqual([true, false, false, true, false]);
    expect(session.records.map(({ outcome }) => outcome)).toEqual(["ok", "timeout", "ok", "ok", "partial"]);
  });

  it("ends when its signal is aborted, also while it waits", async () => {
    const controller = new AbortController();
    const { session } = stage([{}], {
      signal: controller.signal,
      pauseMs: 10,
    });
    await ask(session);
    controller.abort();
    await expect(ask(session)).rejects.toMatchObject({ reason: "cancelled" });
  });

  it("lets an address that is not allowed through as what it is", async () => {
    await expect(ask(stage([{ code: "ADDRESS_REFUSED" }]).session)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  });

  it("shortens the text of a query on record", async () => {
    const { session } = stage([{}]);
    await session.ask({ query: "#".repeat(5000), level: 2 });
    expect(session.records[0]?.query).toHaveLength(2001);
  });
});
