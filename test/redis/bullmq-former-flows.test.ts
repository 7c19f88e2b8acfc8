import { FlowProducer } from "bullmq";
import { expect, it, onTestFinished } from "vitest";
import { createBullmqJobQueue } from "../../src/jobs/bullmq/bullmq-job-queue.ts";
import { Handover } from "../../src/jobs/job-kind.ts";
import { startRedis } from "../support/engines/start-redis.ts";
import { kind } from "../contract/jobs/job-queue-fixture.ts";

/** Two jobs of an older version, `x` and `y`, each with a child that makes its lists. */
async function writeFlows(url: string): Promise<void> {
  const flows = new FlowProducer({ connection: { url }, prefix: "f:jobs:queue" });
  for (const id of ["x", "y"]) {
    const children = [
      {
        name: "lists",
        queueName: "lists",
        data: { payload: id, order: 2, parent: id },
        opts: { jobId: `~${id}.Lists`, priority: 1_048_576, attempts: 1, continueParentOnFailure: true },
      },
    ];
    const data = { payload: "old", order: 1, children: ["Lists"] };
    await flows.add({ name: "whole", queueName: "whole", data, opts: { jobId: `~${id}` }, children });
  }
  await flows.close();
}

it("jobs of an older version that wait for a child run once, after it, whatever became of it", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  await writeFlows(server.url);
  const queue = createBullmqJobQueue({ url: server.url, prefix: "f:", lookMs: 100 });
  onTestFinished(() => queue.close(0));
  const runs: string[] = [];
  await queue.start(
    [
      kind("whole", async (_payload, { id }) => runs.push(id)),
      kind("lists", async (payload, { id }) => {
        runs.push(id);
        if (payload === "y") throw new Error("fails");
        return new Handover("whole", "new");
      }),
    ],
    {},
  );
  for (const id of ["x", "y"]) await expect.poll(async () => (await queue.get(id))?.state).toBe("done");
  expect(runs.toSorted()).toEqual(["x", "x.Lists", "y", "y.Lists"]);
  for (const [part, whole] of [
    ["x.Lists", "x"],
    ["y.Lists", "y"],
  ] as const) {
    expect(runs.indexOf(part)).toBeLessThan(runs.indexOf(whole));
  }
});

it("one that waits is shown, and can be cancelled and enqueued anew", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  await writeFlows(server.url);
  const kinds = [kind("whole", async (payload) => payload), kind("lists", async () => "listed")];
  const queue = createBullmqJobQueue({ url: server.url, prefix: "f:", lookMs: 100 });
  onTestFinished(() => queue.close(0));
  await queue.start(kinds, { work: false });
  expect(await queue.get("x")).toMatchObject({ state: "waiting", payload: "old" });
  expect((await queue.list({ state: "waiting" })).map(({ id }) => id).toSorted()).toEqual([
    "x",
    "x.Lists",
    "y",
    "y.Lists",
  ]);
  expect(await queue.cancel("x")).toBe(true);
  expect(await queue.get("x")).toMatchObject({ state: "cancelled" });
  await queue.enqueue("whole", "new", { id: "x" });
  const worker = createBullmqJobQueue({ url: server.url, prefix: "f:", lookMs: 100 });
  onTestFinished(() => worker.close(0));
  await worker.start(kinds);
  await expect.poll(() => queue.get("x")).toMatchObject({ state: "done", result: "new" });
  await expect.poll(() => queue.get("y")).toMatchObject({ state: "done", result: "old" });
});
