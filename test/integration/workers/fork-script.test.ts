import { once } from "node:events";
import { expect, test } from "vitest";
import { childEnd, forkScript } from "../../../src/workers/child-process.ts";

const script = new URL("../../fixtures/workers/misbehaving-child.ts", import.meta.url);
const start = (behaviour: string, memoryMb = 64) => forkScript(script, { memoryMb, args: [behaviour] });

test("messages keep their bytes", async () => {
  const child = start("echo");
  const ended = childEnd(child);
  child.send({ bytes: Buffer.from([0, 255, 10]) });
  const [message] = await once(child, "message");
  expect(Buffer.from((message as { bytes: Buffer }).bytes)).toEqual(Buffer.from([0, 255, 10]));
  child.disconnect();
  expect(await ended).toMatchObject({ reason: "exit", detail: "code 0" });
});

test("a child sees nothing of our environment but the cache of compiled code", async () => {
  process.env["FEDWAY_TEST_SECRET"] = "hidden";
  const child = start("environment");
  delete process.env["FEDWAY_TEST_SECRET"];
  const ended = childEnd(child);
  const [names] = await once(child, "message");
  expect(names).toEqual(["NODE_COMPILE_CACHE"]);
  child.disconnect();
  await ended;
});

test("a full heap ends the child alone, and says so", async () => {
  expect(await childEnd(start("fill the heap"))).toMatchObject({ reason: "memory" });
});

test("signals to the group are left to the parent", async () => {
  const child = start("echo");
  const ended = childEnd(child);
  child.send("up");
  await once(child, "message");
  child.kill("SIGINT");
  child.kill("SIGTERM");
  child.send("still there");
  expect((await once(child, "message"))[0]).toBe("still there");
  child.disconnect();
  await ended;
});

test.each([
  ["exit", "exit", "code 3"],
  ["nothing known", "exit", "code 0"],
])("a child told %o ends by itself", async (behaviour, reason, detail) => {
  const child = start(behaviour);
  const ended = childEnd(child);
  if (behaviour !== "exit") child.disconnect();
  expect(await ended).toMatchObject({ reason, detail });
});

test("a script that is missing is an end, not an exception", async () => {
  const child = forkScript(new URL("./missing.ts", import.meta.url), { memoryMb: 64 });
  expect((await childEnd(child)).reason).toBe("exit");
});
