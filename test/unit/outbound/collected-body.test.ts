import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { Clock, Timer } from "../../../src/clock.ts";
import { PromptBody } from "../../../src/outbound/exchange.ts";

/** A body under test, a clock that the test moves, and what became of the body. */
function setUp() {
  const seen: string[] = [];
  let fire: (() => void) | undefined;
  const clock: Clock = {
    now: () => 0,
    setTimeout: (run) => {
      fire = run;
      return { unref: () => {} } as Timer;
    },
    clearTimeout: () => {
      fire = undefined;
    },
  };
  const body = new PromptBody({
    clock,
    done: (pieces, error) => seen.push(error ? `fail ${error.code}` : `whole ${Buffer.concat(pieces).toString()}`),
    stream: () => {
      seen.push("stream");
      return {
        data: (chunk) => {
          seen.push(`data ${chunk.toString()}`);
          return chunk.length < 3;
        },
        end: () => seen.push("end"),
        fail: (error) => seen.push(`stream ${error.code}`),
      };
    },
  });
  const later = async (): Promise<void> => {
    clock.now = () => 5;
    fire?.();
    await nextTurn();
  };
  const atOnceAfter = (act: () => void): Promise<void> => {
    const over = later();
    act();
    return over;
  };
  return { body, seen, later, atOnceAfter, waits: () => fire !== undefined };
}

const broken = new FedwayError("ENDPOINT_BROKE_OFF", "broken");

describe("PromptBody", () => {
  it("gathers what comes at once", () => {
    const { body, seen, waits } = setUp();
    expect(body.data(Buffer.from("ab"))).toBe(true);
    expect(body.data(Buffer.from("cdef"))).toBe(true);
    body.end();
    expect(seen).toEqual(["whole abcdef"]);
    expect(waits()).toBe(false);
  });
  it("streams what dawdles, from its first byte, and hands on the wish to pause", async () => {
    const { body, seen, later } = setUp();
    body.data(Buffer.from("ab"));
    await later();
    expect(body.data(Buffer.from("cdef"))).toBe(false);
    body.end();
    expect(seen).toEqual(["stream", "data ab", "data cdef", "end"]);
  });
  it("gathers what has arrived when its time is over, but was not read yet", async () => {
    const { body, seen, atOnceAfter, waits } = setUp();
    body.data(Buffer.from("ab"));
    await atOnceAfter(() => {
      body.data(Buffer.from("cdef"));
      body.end();
    });
    expect(seen).toEqual(["whole abcdef"]);
    expect(waits()).toBe(false);
  });
  it("begins no stream for what has failed when its time is over", async () => {
    const { body, seen, atOnceAfter } = setUp();
    await atOnceAfter(() => body.fail(broken));
    expect(seen).toEqual(["fail ENDPOINT_BROKE_OFF"]);
  });
  it("fails as a whole before, and as a stream after", async () => {
    const early = setUp();
    early.body.data(Buffer.from("ab"));
    early.body.fail(broken);
    expect(early.seen).toEqual(["fail ENDPOINT_BROKE_OFF"]);
    expect(early.waits()).toBe(false);
    const late = setUp();
    await late.later();
    late.body.fail(broken);
    expect(late.seen).toEqual(["stream", "stream ENDPOINT_BROKE_OFF"]);
  });
});
