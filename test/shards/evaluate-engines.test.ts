import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makePackage } from "../support/benchmark-package.ts";
import { startComunica } from "../support/engines/comunica.ts";
import { evaluate } from "../support/evaluated-package.ts";
import { type Listening, listening } from "../support/listening.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { openTowns } from "../support/shard-workspace.ts";

let folder: string;
let comunica: Awaited<ReturnType<typeof startComunica>>;
let liar: Listening;
beforeAll(async () => {
  folder = (await makePackage((await openTowns()).folder)).folder;
  comunica = await startComunica();
  const lie = JSON.stringify({ head: { vars: ["n"] }, results: { bindings: [] } });
  liar = await listening(createServer((_, response) => void response.end(lie)));
});
afterAll(() => Promise.all([comunica?.stop(), liar?.close()]));

interface Report {
  readonly figures: readonly Readonly<Record<string, unknown>>[];
  readonly records: readonly object[];
}

it("asks each engine each form that it takes, counts at the shards, and goes on where it was", async () => {
  const out = join(newFolder(), "run");
  const html = join(newFolder(), "engines.html");
  const words = ["engines", folder, "--engine", `comunica=${comunica.url}`, "--engine", `liar=${liar.origin}/`];
  const { code, out: text, err } = await evaluate([...words, "--out", out, "--json", "--html", html]);
  expect({ code, err }).toMatchObject({ code: 0 });
  const { figures, records } = JSON.parse(text) as Report;
  const all = figures.filter(({ group }) => group === "all");
  const row = (form: string, engine: string, right: number, requests: unknown) =>
    expect.objectContaining({ form, engine, queries: 2, right, wrong: 2 - right, failed: {}, requests });
  expect(all).toEqual([
    row("gold", "fedway", 2, 2),
    row("gold", "comunica", 2, expect.any(Number)),
    row("gold", "liar", 0, null),
    row("trivial", "fedway", 2, 2),
    row("trivial", "comunica", 2, expect.any(Number)),
    row("trivial", "liar", 0, null),
    row("plain", "fedway", 2, 2),
  ]);
  expect(await readFile(html, "utf8")).toMatch(/<td>fedway<\/td>.*By stratum.*count \(gold, liar\): wrong/su);
  const again = await evaluate([...words, "--out", out]);
  expect(again.out).toMatch(/^Queries +Form +Engine .*\nall +gold +fedway +2 +2 +0 +0 /u);
  const lines = (await readFile(join(out, "runs.jsonl"), "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual(records);
});

it("an interrupted run shows what was measured", async () => {
  const { code, out } = await evaluate(["engines", folder], AbortSignal.abort());
  expect({ code, out }).toEqual({ code: 130, out: expect.stringMatching(/^Queries +Form/u) });
});

it.each([
  ["no name", ["--engine", "http://x.example/"], /NAME=URL/],
  ["a form that there is none of", ["--forms", "gold,silver"], /gold, trivial, plain/],
])("%s is a usage error", async (_, words, message) => {
  const { code, err } = await evaluate(["engines", folder, ...words]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
});
