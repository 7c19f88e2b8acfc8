import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { identifyDocument, readDocument } from "../../../../src/registry/catalog.ts";
import { endpointTurtle, federationTurtle } from "../../../support/catalog-folder.ts";

const parse = (text: string, base: string) => readDocument({ mediaType: "text/turtle", text }, base);
const upload = async (turtle: string) => identifyDocument(await parse(turtle, "http://h.example"));
const shouldRefuse = (turtle: string, reason: RegExp, line?: number) => async () => {
  try {
    await upload(turtle);
  } catch (error) {
    if (!(error instanceof FedwayError)) throw error;
    expect([error.code, error.details.where?.line]).toEqual(["ENTRY_INVALID", line]);
    expect(error.message).toMatch(reason);
    expect(error.message).not.toContain("secret");
    return;
  }
  throw new Error("the document was accepted");
};

describe("an uploaded document", () => {
  it("may be an endpoint", async () =>
    expect(await upload(endpointTurtle("a", "x/y"))).toEqual({ kind: "endpoint", id: "a" }));
  it("may be a federation", async () => {
    expect(await upload(federationTurtle("f", 'fedway:member "a"'))).toEqual({ kind: "federation", id: "f" });
  });
  it("has its relative IRIs from this service", async () => {
    const objects = (await parse("<a> <b> <c/d> .", "http://h.example/base")).map(({ object }) => object.value);
    expect(objects).toEqual(["http://h.example/base/c/d"]);
  });
  it("is refused as no Turtle", shouldRefuse("\n\n<a> <b>", /not valid Turtle/, 3));
  it("is refused as no entry", shouldRefuse("<a> <b> <c> .", /no dcat:DataService/));
  it("is refused with a bad id", shouldRefuse(endpointTurtle("A b", "http://a.example/"), /"A b" is not/));
  it("is refused with a password", shouldRefuse(endpointTurtle("a", "http://u:secret@a/"), /password/));
});
