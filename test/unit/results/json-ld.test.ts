import { describe, expect, test } from "vitest";
import { JsonLdDecoder } from "../../../src/results/read-json-ld.ts";
import { termToText } from "../../../src/results/terms.ts";

const wide = "x".repeat(500);
const node = (index: number): string =>
  `{"@id":"e:${index}","@type":["e:T"],"p":[{"@id":"_:b${index % 7}"},"a,]}\\"[{${wide}"]}`;
const nodes = (count: number): string => Array.from({ length: count }, (_, index) => node(index)).join(" ,\n");
const context = '{"p":"http://e/p"}';

/** The triples of a document, sorted, and how many came out before its end. */
async function read(text: string, pieceBytes = 5_000): Promise<{ lines: readonly string[]; early: number }> {
  const decoder = new JsonLdDecoder({});
  const bytes = Buffer.from(text);
  const lines: string[] = [];
  const take = (quads: Awaited<ReturnType<JsonLdDecoder["end"]>>): void => {
    for (const { subject, predicate, object } of quads) {
      lines.push([subject, predicate, object].map(termToText).join(" "));
    }
  };
  for (let at = 0; at < bytes.length; at += pieceBytes) take(await decoder.push(bytes.subarray(at, at + pieceBytes)));
  const early = lines.length;
  take(await decoder.end());
  return { lines: lines.toSorted(), early };
}

/** More than what is read as a whole, 1 MiB. */
const many = 2_600;
const whole = async (): Promise<readonly string[]> => {
  const expected = Array.from({ length: many }, (_, index) => [
    `<e:${index}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <e:T>`,
    `<e:${index}> <http://e/p> _:b${index % 7}`,
    `<e:${index}> <http://e/p> "a,]}\\"[{${wide}"`,
  ]);
  return expected.flat().toSorted();
};

describe("JSON-LD that is a long list of nodes streams", () => {
  test("an array", async () => {
    const text = `[${nodes(many).replaceAll('"p":', '"http://e/p":')}]`;
    const { lines, early } = await read(text);
    expect(lines).toEqual(await whole());
    expect(early).toBeGreaterThan(many);
  });

  test("a graph behind its context", async () => {
    const { lines, early } = await read(` { "@context" : ${context} , "@graph" : [${nodes(many)}] } `);
    expect(lines).toEqual(await whole());
    expect(early).toBeGreaterThan(many);
  });

  test("unless more keys come behind it", async () => {
    const text = `{"@context":${context},"@graph":[${nodes(many)}],"@id":"e:g"}`;
    await expect(read(text)).rejects.toMatchObject({ code: "ENDPOINT_MALFORMED", message: /behind a long "@graph"/ });
  });
});

describe("JSON-LD that is short, or no list, is read as a whole", () => {
  const one = ['<e:s> <http://e/p> "v"'];
  const inner = '{"@id":"e:s","p":"v"}';
  test.each([
    ["one node", `{"@context":${context},"@id":"e:s","p":"v"}`],
    ["the context at the end", `{"@id":"e:s","p":"v","@context":${context}}`],
    ["the context behind the graph", `{"@graph":[${inner}],"@context":${context}}`],
    ["a graph that is one node", `{"@context":${context},"@graph":${inner}}`],
    ["two contexts", `{"@context":[${context},{}],"@graph":[${inner}]}`],
    ["a key that is written with an escape", `{"@context":${context},"\\u0040graph":[${inner}]}`],
    ["an array of documents", `[{"@context":${context},"@id":"e:s","p":"v"}]`],
    ["a list in a list", `[[{"@context":${context},"@id":"e:s","p":"v"}]]`],
    ["a byte order mark before a list", `\ufeff{"@context":${context},"@graph":[${inner}]}`],
  ])("%s", async (_name, text) => {
    for (const pieceBytes of [1, 7, 10_000]) expect((await read(text, pieceBytes)).lines).toEqual(one);
  });

  test.each(["[]", "{}", '{"@graph":[]}', '{"@context":{},"@graph":[ ]}'])("nothing in %s", async (text) => {
    expect((await read(text)).lines).toEqual([]);
  });

  test("a named graph stays one", async () => {
    const decoder = new JsonLdDecoder({});
    await decoder.push(Buffer.from(`{"@context":${context},"@graph":[${inner}],"@id":"e:g"}`));
    expect((await decoder.end()).map(({ graph }) => graph.value)).toEqual(["e:g"]);
  });
});

describe("JSON-LD that is broken", () => {
  test.each([
    ['{"@id": }', 1],
    ['{"e:a":1,}', 1],
    ['{\n"@id":"e:a",\n"e:p":[1,\n]}', 4],
    ['[{"@id":"e:a","e:p":[\n1,,2]}]', 2],
    ['[\n{"@id":"e:a","e:p":1},\n\n]', 4],
    ["{\n\n]", 3],
  ])("%j on line %i", async (text, line) => {
    await expect(read(text)).rejects.toMatchObject({
      code: "ENDPOINT_MALFORMED",
      message: expect.stringMatching(new RegExp(`malformed: The JSON document is broken: .* \\(line ${line}\\)$`, "u")),
    });
  });
  test.each(["", "[", "[{]}", "[}", "[] []", "[]x", "1", '"a"', "[1", '{"@graph":[', '["', "]", "[,]", "{1}"])(
    "%j",
    async (text) => {
      await expect(read(text)).rejects.toMatchObject({ code: "ENDPOINT_MALFORMED" });
    },
  );
});
