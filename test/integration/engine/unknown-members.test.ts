import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { generateShop } from "../../bench/federation/shop/generate.ts";
import { shopQueries } from "../../bench/federation/shop/queries.ts";
import { answerDifference, toAnswer } from "../../support/canonical-answer.ts";
import { toBounds } from "../../support/engine-answer.ts";
import { createMergedFederation, mergedAnswer } from "../../support/merged-federation.ts";

/** What subjects are looked for with, at each member. */
const isLook = (query: string): boolean => query.includes("EXISTS {");

describe("20 members of the shop of which nothing is known", () => {
  const data = Object.values(generateShop(20));

  it.each([
    // Five vendors have a product of these features: 120 and 160 requests without looking where the products are.
    ["q01", 65, 20],
    ["q03", 75, 20],
    ["q08", 86, 20],
    // Labels of products are everywhere.
    ["q06", 80, 0],
  ] as const)("%s takes %d requests, of which %d look for subjects", async (name, requests, looks) => {
    const { text = "" } = shopQueries.find((query) => query.name === name) ?? {};
    const federation = createMergedFederation(data);
    const answer = await federation.answer(text);
    expect(answerDifference(mergedAnswer(data, text), answer)).toBeUndefined();
    expect(federation.client.requests).toHaveLength(requests);
    expect(federation.client.requests.filter(({ query }) => isLook(query))).toHaveLength(looks);
  });
});

describe("a star over members of which one has the keys", () => {
  const members = 12;
  const star = "SELECT * { ?s <urn:kind> <urn:odd> ; <urn:a> ?a ; <urn:b> ?b ; <urn:c> ?c ; <urn:d> ?d }";
  const ordinary = (index: number): string =>
    ["a", "b", "c", "d"].map((name) => `<urn:s${index}> <urn:${name}> "${index}" .`).join("\n");
  const dataWith = (subject: string): readonly string[] => [
    `${subject} <urn:kind> <urn:odd> .\n${subject} <urn:a> "1" .`,
    ...Array.from({ length: members - 1 }, (_, index) => ordinary(index)),
  ];

  it("finds what another member says of a subject", async () => {
    const data = [...dataWith("<urn:x>")];
    data[7] += '\n<urn:x> <urn:b> "2" .';
    data[9] += '\n<urn:x> <urn:c> "3" .\n<urn:x> <urn:d> "4" .\n<urn:y> <urn:a> <urn:x> .';
    const federation = createMergedFederation(data);
    expect(answerDifference(mergedAnswer(data, star), await federation.answer(star))).toBeUndefined();
    expect(federation.client.requests.filter(({ query }) => isLook(query))).toHaveLength(members);
    // The first pattern and the look at all, the others at the three that have the subject.
    expect(federation.client.requests).toHaveLength(2 * members + 4 * 3);
  });

  it("keeps a blank node, which no other member can have", async () => {
    const data = [...dataWith("_:x")];
    data[0] += '\n_:x <urn:b> "2" .\n_:x <urn:c> "3" .\n_:x <urn:d> "4" .';
    const query = star.replace("*", "?a ?b ?c ?d");
    const answer = await createMergedFederation(data).answer(query);
    expect(answerDifference(mergedAnswer(data, query), answer)).toBeUndefined();
  });

  it.each([true, false])("a member that fails when it is asked for subjects, partial=%s", async (partial) => {
    const data = [...dataWith("<urn:x>")];
    data[7] += '\n<urn:x> <urn:b> "2" .\n<urn:x> <urn:c> "3" .\n<urn:x> <urn:d> "4" .';
    const federation = createMergedFederation(data);
    const failing = federation.members[5]?.url ?? "";
    federation.client.fail(
      failing,
      new FedwayError("ENDPOINT_FAILED", "The endpoint failed.", { fault: "http-5xx" }),
      1,
    );
    const bounds = toBounds(partial);
    const answer = async () => toAnswer(await federation.result(star, bounds), false);
    if (!partial) {
      await expect(answer()).rejects.toMatchObject({ code: "ENDPOINT_FAILED" });
      return;
    }
    expect(answerDifference(mergedAnswer(data, star), await answer())).toBeUndefined();
    expect(bounds.sources.get("m5")).toMatchObject({ status: "failed", reason: "ENDPOINT_FAILED" });
  });
});
