import { describe, expect, it } from "vitest";
import { Lifecycle } from "../../../src/app/lifecycle.ts";

const steps = ["startWork", "answer", "announce", "drain"] as const;
type Step = (typeof steps)[number];

/** A lifecycle whose steps are written down; a step waits while it is held, and can be made to fail. */
function createLife() {
  const done: string[] = [];
  const gates = new Map<Step, PromiseWithResolvers<void>>();
  const step = async (name: Step): Promise<void> => {
    done.push(name);
    await gates.get(name)?.promise;
  };
  const life = new Lifecycle();
  life.add(() => void done.push("closed"));
  return {
    life,
    done,
    begin: () =>
      life.begin({
        startWork: () => step("startWork"),
        answer: async () => {
          await step("answer");
          return "http://here";
        },
        announce: () => step("announce"),
      }),
    close: () => life.close(() => step("drain")),
    hold: (name: Step): PromiseWithResolvers<void> => {
      const gate = Promise.withResolvers<void>();
      gates.set(name, gate);
      return gate;
    },
  };
}

const begun = ["startWork", "answer", "announce"];
const ended = ["drain", "closed"];
const settled = (): Promise<void> => new Promise(setImmediate);

describe("a service", () => {
  it("works before it answers, and answers before it says so; it begins once", async () => {
    const { life, begin, done } = createLife();
    expect(await Promise.all([begin(), begin()])).toStrictEqual(["http://here", "http://here"]);
    expect(done).toStrictEqual(begun);
    expect(life).toMatchObject({ answering: true, closing: false });
  });

  it("is not ready from the first moment of its end, which comes once, after the drain", async () => {
    const { life, begin, close, done, hold } = createLife();
    await begin();
    const gate = hold("drain");
    let isOver = false;
    const first = close();
    const second = close().then(() => (isOver = true));
    expect(life.closing).toBe(true);
    await settled();
    expect({ done, isOver }).toStrictEqual({ done: [...begun, "drain"], isOver: false });
    gate.resolve();
    await Promise.all([first, second]);
    expect(done).toStrictEqual([...begun, ...ended]);
  });

  it("that never answered needs no drain", async () => {
    const { begin, close, done } = createLife();
    await close();
    await expect(begin()).rejects.toMatchObject({ code: "CANCELLED" });
    expect(done).toStrictEqual(["closed"]);
  });

  it("closes in reverse order, one after the other, also when something fails, which is told at the end", async () => {
    const { life, close, done } = createLife();
    life.add(async () => {
      await settled();
      done.push("jobs");
    });
    life.add(() => Promise.reject(new Error("http failed")));
    life.add(() => void done.push("queries"));
    await expect(close()).rejects.toThrow("http failed");
    expect(done).toStrictEqual(["queries", "jobs", "closed"]);
  });
});

describe("a service that is not there yet", () => {
  it.each<[Step, readonly string[]]>([
    ["startWork", ["startWork", "closed"]],
    ["answer", ["startWork", "answer", "announce", ...ended]],
    ["announce", [...begun, ...ended]],
  ])("is closed when it is told so during %s, once that is done", async (name, expected) => {
    const { begin, close, done, hold } = createLife();
    const gate = hold(name);
    const beginning = begin().catch((error: unknown) => error);
    await settled();
    const end = close();
    await settled();
    expect(done.at(-1)).toBe(name);
    gate.resolve();
    expect(await beginning).toMatchObject({ code: "CANCELLED" });
    await end;
    expect(done).toStrictEqual(expected);
  });

  it.each<[Step, readonly string[]]>([
    ["startWork", ["startWork", "closed"]],
    ["answer", ["startWork", "answer", "closed"]],
    ["announce", [...begun, "closed"]],
  ])("closes everything when %s fails, and tells why", async (name, expected) => {
    const { begin, close, done, hold } = createLife();
    const gate = hold(name);
    const beginning = begin();
    gate.reject(new Error("no luck"));
    await expect(beginning).rejects.toThrow("no luck");
    await close();
    expect(done).toStrictEqual(expected);
  });
});
