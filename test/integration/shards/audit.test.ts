import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WholeStore } from "../../../shards/src/package/whole-store.ts";
import { audit, openDataset } from "../../support/audited-dataset.ts";

let store: WholeStore;
beforeAll(async () => {
  store = await openDataset(fileURLToPath(new URL("../../../shards/example/harbour.nt", import.meta.url)));
});
afterAll(() => store.close());

const prefix = "PREFIX h: <https://harbour.example/vocabulary#>";

async function groupFlags(question: string, where: string): Promise<readonly string[]> {
  const sparql = `${prefix} SELECT ?key (COUNT(*) AS ?count) { ${where} } GROUP BY ?key`;
  const { questions } = await audit(store, [{ sparql, questions: { q: question } }]);
  return (questions[0]?.flags ?? []).flatMap(({ name, evidence }) => (name === "grouped-otherwise" ? [evidence] : []));
}

describe("a question for each thing of a class that its query does not state", () => {
  it("is known by the property that the things are objects of", async () =>
    expect(await groupFlags("How many ferries are there for each company?", "?f a h:Ferry ; h:ownedBy ?key")).toEqual(
      [],
    ));

  it("is known by the properties that the things have", async () =>
    expect(
      await groupFlags(
        "How many captains are there per ferry?",
        "?c a h:Captain . ?key h:capacity ?n . ?c h:commands ?key",
      ),
    ).toEqual([]));

  it("is open where the data have no such word", async () =>
    expect(await groupFlags("How many routes leave each harbour?", "?r h:from ?key")).toEqual([]));

  it("is flagged where the things are those of another class", async () =>
    expect(await groupFlags("How many ferries are there for each region?", "?f a h:Ferry ; h:ownedBy ?key")).toEqual([
      "The question has no word for the key ?key.",
    ]));
});
