import { array, assert, asyncProperty, constantFrom, string } from "fast-check";
import { afterAll, expect, test } from "vitest";
import { quote } from "../../../../shards/src/rules/encodings.ts";
import { createClingoSolver } from "../../../../shards/src/solver/clingo-solver.ts";

/** The text of a string that `quote` wrote, as clingo prints it. */
const unquote = (quoted: string): string => JSON.parse(`"${quoted.slice(1, -1).replaceAll(/\\(.)/gu, "$1")}"`);

const solver = createClingoSolver();
afterAll(() => solver.close());

/** What comes out of the solver when these texts go in. */
async function throughSolver(texts: readonly string[]): Promise<readonly string[]> {
  const program = texts.map((text, at) => `name(${at},${quote(text)}).`).join("\n");
  const { models } = await solver.solve(`${program}\n#show name/2.`);
  const found = (models[0]?.atoms ?? []).map((atom) => {
    const [, at = "", quoted = ""] = /^name\((\d+),(.*)\)$/su.exec(atom) ?? [];
    return [Number(at), unquote(quoted)] as const;
  });
  return found.toSorted(([left], [right]) => left - right).map(([, text]) => text);
}

const hostile = [
  "",
  'http://example.org/a"b',
  String.raw`a\b\n\"`,
  "a\nb\tc\r\n",
  'x"). choose(1). name(9,"',
  "% comment",
  "nul\u0000end",
  "\ud800 lone \udfff",
  "\u2028\u2029\u0085\u007f",
  "straße 日本 🦊",
  "#script(lua)",
];

test("hostile texts survive the way through the solver", async () => {
  expect(await throughSolver(hostile)).toEqual(hostile);
});

test("any text survives the way through the solver", async () => {
  const unit = constantFrom("binary" as const, "grapheme" as const, "binary-ascii" as const);
  const text = unit.chain((kind) => string({ unit: kind, maxLength: 40 }));
  await assert(
    asyncProperty(array(text, { minLength: 1, maxLength: 30 }), async (texts) => {
      expect(await throughSolver(texts)).toEqual(texts);
    }),
    { numRuns: 20 },
  );
});
