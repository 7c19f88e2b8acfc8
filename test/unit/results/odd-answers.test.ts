import { describe, expect, test } from "vitest";
import { parseAnswer } from "../../../src/results/parse.ts";
import { termToText } from "../../../src/results/terms.ts";
import { each, readQuads, readRows } from "../../support/result-terms.ts";

async function termsOf(mediaType: string, pieces: readonly Uint8Array[]): Promise<string[]> {
  const result = await parseAnswer(each(pieces), {
    mediaType,
    kind: "bindings",
  });
  const { rows } = await readRows(result);
  return rows.flatMap((row) => [...row.values()].map(termToText));
}

describe("terms that are told otherwise", () => {
  test.each([
    ["literal-typed", '{"type":"literal-typed","datatype":"urn:t","value":"7"}', '"7"^^<urn:t>'],
    ["lang for xml:lang", '{"type":"literal","lang":"fr","value":"a"}', '"a"@fr'],
  ])("%s in JSON", async (_, cell, term) => {
    const body = `{"head":{"vars":["x"]},"results":{"bindings":[{"x":${cell}}]}}`;
    expect(await termsOf("application/sparql-results+json", [Buffer.from(body)])).toEqual([term]);
  });
});

describe("text/boolean", () => {
  const ask = (...pieces: string[]) =>
    parseAnswer(each(pieces.map((piece) => Buffer.from(piece))), {
      mediaType: "text/boolean",
      kind: "boolean",
    });
  test.each([
    [["true"], true],
    [["fa", "lse\n"], false],
    [[" TRUE "], true],
  ])("%j", async (pieces, value) => expect(await ask(...pieces)).toEqual({ kind: "boolean", value }));
  test.each([[["tru"]], [["true false"]], [[""]]])("%j is none", async (pieces) =>
    expect(ask(...pieces)).rejects.toMatchObject({
      code: "ENDPOINT_MALFORMED",
    }),
  );
});

const results = `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="x"/></head><results><result>
  <binding name="x"><literal lang='fr'>été</literal></binding></result></results></sparql>`;
const rdfXml = `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:"><r:Description r:about="urn:s"><e:p xml:lang="fr">été</e:p></r:Description></r:RDF>`;
const declared = (encoding: string, document: string): string =>
  `<?xml version="1.0" encoding="${encoding}"?>\n${document}`;
const bigEndian = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();

const encodings: readonly (readonly [string, (document: string) => Uint8Array])[] = [
  ["ISO-8859-1", (text) => Buffer.from(declared("ISO-8859-1", text), "latin1")],
  ["Windows-1252", (text) => Buffer.from(declared("windows-1252", text).replaceAll('"', "'"), "latin1")],
  ["UTF-16 with a mark", (text) => Buffer.from(`\uFEFF${declared("UTF-16", text)}`, "utf16le")],
  ["UTF-16BE with a mark", (text) => bigEndian(`\uFEFF${declared("utf-16", text)}`)],
  ["UTF-16 without a mark", (text) => Buffer.from(declared("UTF-16", text), "utf16le")],
  ["UTF-16BE without a declaration", bigEndian],
  ["UTF-8 that calls itself UTF-16", (text) => Buffer.from(declared("utf-16", text))],
  ["UTF-8 with a mark", (text) => Buffer.from(`\uFEFF${declared("UTF-8", text)}`)],
  ["UTF-8 and no declaration", (text) => Buffer.from(text)],
];

describe.each(encodings)("XML in %s", (_, encode) => {
  const splits = (bytes: Uint8Array): readonly (readonly Uint8Array[])[] =>
    [...bytes.keys()].map((at) => [bytes.subarray(0, at), bytes.subarray(at)]);

  test("a table, split anywhere", async () => {
    const mediaType = "application/sparql-results+xml";
    for (const pieces of splits(encode(results))) {
      expect(await termsOf(mediaType, pieces)).toEqual(['"été"@fr']);
    }
  });

  test("a graph, split anywhere", async () => {
    for (const pieces of splits(encode(rdfXml))) {
      const result = await parseAnswer(each(pieces), {
        mediaType: "application/rdf+xml",
        kind: "quads",
      });
      expect((await readQuads(result)).map(({ object }) => termToText(object))).toEqual(['"été"@fr']);
    }
  });
});

test("XML in an encoding that nobody knows is read as UTF-8, and refused where it is none", async () => {
  const mediaType = "application/sparql-results+xml";
  const bytes = Buffer.from(declared("x-unknown", results), "latin1");
  await expect(termsOf(mediaType, [bytes])).rejects.toMatchObject({
    code: "ENDPOINT_MALFORMED",
    message: expect.stringContaining("is not UTF-8"),
  });
});
