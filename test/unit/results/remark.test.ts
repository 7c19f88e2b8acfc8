import { describe, expect, it } from "vitest";
import { type ResultFormat, resultFormats } from "../../../src/results/formats.ts";
import type { QueryResult } from "../../../src/results/model.ts";
import { parseAnswer } from "../../../src/results/parse.ts";
import type { Remark } from "../../../src/results/remark.ts";
import { createAnswerScanner } from "../../../src/results/parse.ts";
import { serializeResult } from "../../../src/results/serialize.ts";
import {
  bindingsOf,
  collect,
  each,
  formatNamed,
  literal,
  namedNode,
  plainQuads,
  plainRows,
  quad,
  readQuads,
  readRows,
} from "../../support/result-terms.ts";

// A document says that it is partial and is read as the same rows, whatever an endpoint is called.

const remark: Remark = {
  partial: "subset",
  sources: [
    { endpoint: "people", status: "failed", reason: "ENDPOINT_BROKE_OFF" },
    { endpoint: 'http://e.org/a-->b--!>\n<x> <y> "z" .\u202E\u0000', status: "timeout" },
  ],
};
const quads = [quad(namedNode("urn:a"), namedNode("urn:b"), literal("c"))];
const rows = [new Map([["s", namedNode("urn:a")]])];

const graph = (some: typeof quads): QueryResult => ({ kind: "quads", quads: each(some) });
const write = async (result: QueryResult, format: ResultFormat, isTold = false): Promise<string> => {
  const remarks = { known: () => remark, isTold: () => isTold };
  return Buffer.concat(await collect<Buffer>(serializeResult(result, format, remarks))).toString();
};

/** As whoever reads Fedway's answers reads them. */
async function readAgain(text: string, { mediaType }: ResultFormat, kind: "bindings" | "quads"): Promise<unknown> {
  const scanner = createAnswerScanner(mediaType);
  scanner.push(Buffer.from(text));
  expect(scanner.end()).toMatchObject({ complete: true });
  const result = await parseAnswer(each([Buffer.from(text)]), { mediaType, kind });
  if (result.kind === "bindings") return plainRows(["s"], (await readRows(result)).rows);
  return plainQuads(await readQuads(result));
}

const names = (kind: "bindings" | "quads"): readonly ResultFormat["name"][] =>
  resultFormats.filter(({ kinds }) => kinds.includes(kind)).map(({ name }) => name);
const readable: ReadonlySet<string> = new Set(["turtle", "ntriples", "jsonld", "rdfxml"]);

describe("a remark at the end of", () => {
  it.each(names("quads"))("a graph as %s", async (name) => {
    const format = formatNamed(name);
    for (const some of [quads, []]) {
      const text = await write(graph(some), format);
      expect(text).toContain("people");
      expect(text).toContain("partial");
      if (readable.has(name)) expect(await readAgain(text, format, "quads")).toEqual(plainQuads(some));
    }
  });

  it.each(["json", "xml"] as const)("rows as %s, and a boolean", async (name) => {
    const format = formatNamed(name);
    for (const some of [rows, []]) {
      const text = await write(bindingsOf(["s"], some), format);
      expect(text).toContain("people");
      expect(await readAgain(text, format, "bindings")).toEqual(plainRows(["s"], some));
    }
    const text = await write({ kind: "boolean", value: false }, format);
    expect(text).toContain("people");
    const read = parseAnswer(each([Buffer.from(text)]), { mediaType: format.mediaType, kind: "boolean" });
    expect(await read).toEqual({ kind: "boolean", value: false });
  });

  it("is said once in JSON: before the rows where it is known, behind them where it became known later", async () => {
    const answers = [await write(bindingsOf(["s"], rows), formatNamed("json"))];
    let isKnown = false;
    const remarks = { known: () => (isKnown ? remark : undefined), isTold: () => false };
    const later = async function* () {
      yield* rows;
      isKnown = true;
    };
    const result: QueryResult = { kind: "bindings", variables: ["s"], rows: later() };
    const parts = await collect<Buffer>(serializeResult(result, formatNamed("json"), remarks));
    answers.push(Buffer.concat(parts).toString());
    expect(answers.map((text) => Object.keys(JSON.parse(text)))).toEqual([
      ["head", "fedway", "results"],
      ["head", "results", "fedway"],
    ]);
    for (const text of answers) expect(text.match(/"fedway"/gu)).toHaveLength(1);
  });

  it.each(["csv", "tsv"] as const)("rows as %s cuts them off, unless the reader has been told", async (name) => {
    const format = formatNamed(name);
    await expect(write(bindingsOf(["s"], rows), format)).rejects.toMatchObject({
      code: "ENDPOINT_PARTIAL",
      message: expect.stringMatching(/^The answer is partial \(subset\): people failed.*cannot say it\.$/u),
      details: { where: { endpoint: "people" } },
    });
    expect(await write(bindingsOf(["s"], rows), format, true)).toContain("urn:a");
  });

  it("JSON has what the record has", async () => {
    const text = await write(bindingsOf(["s"], []), formatNamed("json"));
    expect(JSON.parse(text)).toMatchObject({ fedway: { status: "partial", ...remark } });
  });
});
