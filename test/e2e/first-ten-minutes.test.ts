import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Program, startProgram } from "../support/built-program.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { freePort } from "../support/listening.ts";
import { linesAs, type MarkdownStep, outputOf, stepsOf } from "../support/markdown-steps.ts";

// The README as a newcomer follows it, on a port that is not the one it names: `npm start`, then every command of "Try it"
// in its order, its output compared with the block below it.

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const tryIt = /\n## Try it\n([^]*?)\n## /.exec(readme)?.[1] ?? "";

const steps = stepsOf(tryIt);

let service: Program;
let url: string;
const dataDir = newFolder();

/** Where the newcomer's service is, and where it keeps its state. */
const here = (text: string): string =>
  text.replaceAll("http://127.0.0.1:3000", url).replaceAll(".fedway/", `${dataDir}/`);

const env = (): Readonly<Record<string, string>> => ({ FEDWAY_DATA_DIR: dataDir, FEDWAY_MONITOR: "off" });

const run = (step: MarkdownStep): Promise<string> => outputOf(step, { folder: root, env: env(), here });

beforeAll(async () => {
  const port = String(await freePort());
  url = `http://127.0.0.1:${port}`;
  service = startProgram(["npm", "start"], { ...env(), PORT: port });
  await service.until(() => /Fedway listens at/.test(service.log()) || undefined);
});
afterAll(async () => {
  await service?.stop();
});

it("the start says at once what it does, and at its end where to look", () => {
  expect(service.log()).toMatch(/^(?:npm .*\n)*(?:Starting|Building) Fedway/);
  for (const place of ["/", "/query", "/docs", "/login?token="]) expect(service.log()).toContain(url + place);
  expect(service.log()).toContain(`${dataDir}/admin-token`);
});

it("the README is read in some minutes", () => expect(readme.split(/\s+/).length).toBeLessThan(1_200));

it("every step is found in the README", () =>
  expect(steps.map(({ title }) => title[0])).toEqual(["1", "2", "3", "4", "5"]));

describe.each(steps)("$title", (step) => {
  it("does what the README shows", async () => {
    const output = await run(step);
    const { shown } = step;
    if (shown === undefined) expect(output.trim()).not.toBe("");
    else if (shown.startsWith("{")) expect(JSON.parse(output)).toMatchObject(JSON.parse(shown));
    else expect(output).toMatch(linesAs(here(shown)));
    expect(output).not.toContain("UNKNOWN");
  });
});

it("the second query says what the first one says", async () => {
  const [first = "", second = ""] = await Promise.all(steps.slice(0, 2).map(run));
  expect(first.split("\n")).toHaveLength(14);
  expect(second).toBe(first);
});

it("the schema is there once its job has ended", async () => {
  const [, , , , last] = steps;
  const output = last === undefined ? "" : await run(last);
  expect(output).toContain("foaf:Person");
  expect(output).toContain("foaf:name");
});
