import { describe, expect, it } from "vitest";
import {
  createOpened,
  createServiceLife,
  type ServiceLife,
  type ServiceLifeOptions,
} from "../../../src/app/service-life.ts";

type Step = Exclude<keyof ServiceLifeOptions, "opened">;

/** A life whose steps are written down; a step waits while it is held, and can be made to fail. */
function createLife() {
  const steps: string[] = [];
  const gates = new Map<Step, PromiseWithResolvers<void>>();
  const step = async (name: Step): Promise<void> => {
    steps.push(name);
    await gates.get(name)?.promise;
  };
  const opened = createOpened();
  opened.add(() => void steps.push("closed"));
  const life: ServiceLife = createServiceLife({
    opened,
    startWork: () => step("startWork"),
    answer: async () => {
      await step("answer");
      return "http://here";
    },
    announce: () => step("announce"),
    drain: () => void steps.push("drain"),
    waitDrained: () => step("waitDrained"),
  });
  const hold = (name: Step): PromiseWithResolvers<void> => {
    const gate = Promise.withResolvers<void>();
    gates.set(name, gate);
    return gate;
  };
  return { life, steps, hold };
}

const begun = ["startWork", "answer", "announce"];
const ended = ["drain", "waitDrained", "closed"];
const settled = (): Promise<void> => new Promise(setImmediate);

describe("a service", () => {
  it("works before it answers, and answers before it says so", async () => {
    const { life, steps } = createLife();
    expect(await life.begin()).toBe("http://here");
    expect(steps).toStrictEqual(begun);
    expect(life).toMatchObject({ answering: true, closing: false });
  });

  it("is not ready from the first moment of its end on, and closed after the drain", async () => {
    const { life, steps, hold } = createLife();
    await life.begin();
    const gate = hold("waitDrained");
    const end = life.close();
    expect(life.closing).toBe(true);
    await settled();
    expect(steps).toStrictEqual([...begun, "drain", "waitDrained"]);
    gate.resolve();
    await end;
    expect(steps).toStrictEqual([...begun, ...ended]);
  });

  it("that never answered needs no drain", async () => {
    const { life, steps } = createLife();
    await life.close();
    expect(steps).toStrictEqual(["closed"]);
    await expect(life.begin()).rejects.toMatchObject({ code: "CANCELLED" });
    expect(steps).toStrictEqual(["closed"]);
  });

  it("ends once, and who asks again waits for the same end", async () => {
    const { life, steps, hold } = createLife();
    await life.begin();
    const gate = hold("waitDrained");
    let isOver = false;
    const first = life.close();
    const second = life.close().then(() => (isOver = true));
    await settled();
    expect(isOver).toBe(false);
    gate.resolve();
    await Promise.all([first, second]);
    expect(steps).toStrictEqual([...begun, ...ended]);
  });

  it("begins once", async () => {
    const { life, steps } = createLife();
    expect(await Promise.all([life.begin(), life.begin()])).toStrictEqual(["http://here", "http://here"]);
    expect(steps).toStrictEqual(begun);
  });
});

const shouldEndIn = (name: Step, steps: readonly string[]): void =>
  it(`is closed when it is told so during ${name}, once that is done`, async () => {
    const made = createLife();
    const gate = made.hold(name);
    const begin = made.life.begin().catch((error: unknown) => error);
    await settled();
    const end = made.life.close();
    await settled();
    expect(made.steps.at(-1)).toBe(name);
    gate.resolve();
    expect(await begin).toMatchObject({ code: "CANCELLED" });
    await end;
    expect(made.steps).toStrictEqual(steps);
  });

const shouldFailIn = (name: Step, steps: readonly string[]): void =>
  it(`closes everything when ${name} fails, and tells why`, async () => {
    const made = createLife();
    const gate = made.hold(name);
    const begin = made.life.begin();
    gate.reject(new Error("no luck"));
    await expect(begin).rejects.toThrow("no luck");
    expect(made.steps).toStrictEqual(steps);
    await made.life.close();
    expect(made.steps.filter((step) => step === "closed")).toHaveLength(1);
  });

describe("a service that is not there yet", () => {
  shouldEndIn("startWork", ["startWork", "closed"]);
  shouldEndIn("answer", ["startWork", "answer", "announce", ...ended]);
  shouldEndIn("announce", [...begun, ...ended]);
  shouldFailIn("startWork", ["startWork", "closed"]);
  shouldFailIn("answer", ["startWork", "answer", "closed"]);
  shouldFailIn("announce", [...begun, "closed"]);
});
