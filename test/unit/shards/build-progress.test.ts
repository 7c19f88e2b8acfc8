import { expect, it } from "vitest";
import { type BuildProgress, passProgress } from "../../../shards/src/build-problem.ts";

it("tells triples per second and the time left of each pass, by its own pace", () => {
  let ms = 1_000;
  const told: BuildProgress[] = [];
  const show = passProgress(
    () => ms,
    (progress) => told.push(progress),
  );
  const totalBytes = 10 * 1_048_576;
  show({ phase: "learn", triples: 0, bytes: 0, totalBytes });
  ms += 2_000;
  show({ phase: "learn", triples: 50_000, bytes: totalBytes / 4, totalBytes });
  show({ phase: "sort", triples: 10, bytes: totalBytes, totalBytes });
  expect(told).toEqual([
    { stage: "learning the classes", done: 0, total: 10, figures: { triples: 0 } },
    {
      stage: "learning the classes",
      done: 2,
      total: 10,
      figures: { triples: 50_000, "triples/s": 25_000, "s left": 6 },
    },
    { stage: "sorting", done: 10, total: 10, figures: { triples: 10 } },
  ]);
});
