import { beforeAll, describe, expect, test } from "vitest";
import { answersTo, faultReports } from "../support/upstream/fault-reports.ts";
import { newFolder } from "../support/scratch-folder.ts";

const reports = faultReports();
let scratch: string;
let asPublished: readonly string[];
let patched: readonly string[];

beforeAll(async () => {
  scratch = newFolder();
  [asPublished, patched] = await Promise.all([answersTo(reports), answersTo(reports, scratch)]);
});

describe.each(reports.map((report, index) => [report.name, report, index] as const))("%s", (_, report, index) => {
  test("is a fault of Comunica's still; else what stands for it can go (deploy/comunica/upstream/README.md)", () => {
    expect(asPublished[index]?.slice(0, report.got.length)).toBe(report.got);
    expect(asPublished[index]).not.toBe(report.expected);
  });
  test.runIf(report.patch !== undefined)("is mended by its patch", () => {
    expect(patched[index]).toBe(report.expected);
  });
});
