import { describe, expect, it } from "vitest";
import { refusedQuery } from "../../../src/hosting/store-errors.ts";

const refused = (message: string, query = "SELECT *") => refusedQuery(message, { endpoint: "alpha", query });

describe("refusedQuery", () => {
  it("counts columns in UTF-16 code units", () => {
    expect(refused("error at 1:4: expected x", "🌍🌍é?").details.where?.column).toBe(6);
  });
  it("explains a relative IRI", () => {
    expect(refused("error at 1:1: expected IRI parsing failed").message).toMatch(/IRI is relative or malformed/);
  });
  it("shortens the list of expectations", () => {
    expect(refused(`error at 1:1: expected ${"x, ".repeat(300)}`).message.length).toBeLessThan(300);
  });
});
