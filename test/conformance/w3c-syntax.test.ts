import { expect, test } from "vitest";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { parseQuery } from "../../src/sparql/query.ts";
import { suiteText, syntaxCases } from "../support/w3c/suite.ts";
import { deviationOf } from "./w3c-deviations.ts";

const cases = syntaxCases();

test("the suites are whole", () => {
  expect(cases.filter(({ legal }) => legal)).toHaveLength(212);
  expect(cases.filter(({ legal }) => !legal)).toHaveLength(85);
});

test.each(cases.map((one) => [one.name, one] as const))("%s", (name, { query, legal }) => {
  const text = `BASE <${query}>\n${suiteText(query)}`;
  const found = parses(text);
  if (deviationOf(name, "syntax") === undefined) expect(found, text).toBe(legal);
  else expect(found, "passes: take it from the list").not.toBe(legal);
});

function parses(text: string): boolean {
  try {
    parseQuery(text);
    return true;
  } catch (error) {
    if (error instanceof FedwayError && error.code === "QUERY_SYNTAX") return false;
    throw error;
  }
}
