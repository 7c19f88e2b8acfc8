import { describe, expect, it } from "vitest";
import { singular, stemOf } from "../../../../src/registry/find/words/forms.ts";
import { indexWords, queryWords } from "../../../../src/registry/find/words/question-words.ts";
import { processorMsOf } from "../../../support/held-loop.ts";
import { fold } from "../../../../src/registry/find.ts";

const shouldFold = (text: string, folded: string) =>
  it(`folds ${JSON.stringify(text)}`, () => {
    expect(fold(text)).toBe(folded);
  });

const shouldIndex = (text: string, words: readonly string[]) =>
  it(`indexes ${JSON.stringify(text)}`, () => {
    expect(indexWords(text)).toEqual(words);
  });

const shouldAsk = (q: string, words: readonly string[]) =>
  it(`asks ${JSON.stringify(q).slice(0, 60)}`, () => {
    expect(queryWords(q).map(({ whole }) => whole)).toEqual(words);
  });

describe("fold", () => {
  shouldFold("Übersee", "ubersee");
  shouldFold("Straße", "strasse");
  shouldFold("Łódź", "lodz");
  shouldFold("ﬁlm", "film");
  shouldFold("É", "e");
});

describe("indexWords", () => {
  shouldIndex("hasPart_of2", ["haspart", "has", "part", "of2", "of"]);
  shouldIndex("HTTPServer", ["httpserver", "http", "server"]);
  shouldIndex("Café crème", ["cafe", "creme"]);
  shouldIndex("Cafe\u0301s", ["cafes"]);
  shouldIndex("P31", ["p31", "31"]);
  shouldIndex("蛋白质 белок", ["蛋白质", "belok"]);
  shouldIndex("__proto__ constructor", ["proto", "constructor"]);
  shouldIndex("\u202Eevil\u0000\u200B", ["evil"]);
  shouldIndex(" -- ", []);
});

describe("singular", () => {
  const cases = [
    ["proteins", "protein"],
    ["cities", "city"],
    ["boxes", "box"],
    ["people", "person"],
    ["classes", "class"],
    ["genes", "gene"],
    ["class", undefined],
    ["virus", undefined],
    ["gas", undefined],
    ["protein", undefined],
  ] as const;
  it.each(cases)("of %s", (word, single) => {
    expect(singular(word)).toBe(single);
  });
});

describe("stemOf", () => {
  const cases = [
    ["born", "birth"],
    ["died", "death"],
    ["written", "write"],
    ["cities", "city"],
    ["constructor", "constructor"],
  ] as const;
  it.each(cases)("of %s", (word, base) => {
    expect(stemOf(word)).toBe(base);
  });
});

describe("queryWords", () => {
  shouldAsk("Which endpoints have proteins?", ["proteins"]);
  shouldAsk("which have the", ["which", "have", "the"]);
  shouldAsk("gene Gene GENE", ["gene"]);
  shouldAsk("http://example.org/core#hasPart", ["haspart"]);
  shouldAsk("<urn:x:a:BigThing>", ["bigthing"]);
  shouldAsk("a b c d1 e f g h j k l m n o p q r s t u v".repeat(3), "b c d1 e f g h j k l m n".split(" "));
  it("looks at bounded input only", async () => {
    const [words, word] = ["x y ".repeat(500_000), "aB1".repeat(1_000_000)];
    const ms = await processorMsOf(() => {
      expect(queryWords(words).length).toBeLessThanOrEqual(12);
      expect(queryWords(word)[0]?.whole.length).toBe(64);
    });
    expect(ms).toBeLessThan(500);
  });
});
