import type { Asker } from "../../../../src/outbound/whole-answer.ts";
import type { RdfDocument } from "../../../../src/outbound/documents.ts";
import { DataFactory } from "n3";
import { expect, it } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { createDocumentCanary } from "../../../../src/registry/capabilities/document-canary.ts";

const namedNode = (iri: string) => DataFactory.namedNode(iri);
const url = "http://data.example/x";
const link = (predicate: string) =>
  DataFactory.quad(namedNode(url), namedNode(predicate), namedNode("http://data.example/y"));
const form = link("http://www.w3.org/ns/hydra/core#search");
const fact = link("http://data.example/p");

const canaryOver = (fetchDocument: Asker["fetchDocument"]) =>
  createDocumentCanary({ asker: { fetchDocument }, clock: { now: () => Date.parse("2026-01-01T00:00:00Z") } });

const shouldBe = (reachable: boolean, kind: "tpf" | "file", quads: RdfDocument["quads"]): void =>
  it(`a ${kind} with ${quads.length} triples is ${reachable ? "" : "not "}reachable`, async () => {
    const document = { url, httpStatus: 200, mediaType: "text/turtle", quads, bytes: 10, durationMs: 1 };
    const found = await canaryOver(async () => document)({ id: "x", url, interface: kind }, AbortSignal.timeout(1000));
    expect(found).toStrictEqual({
      endpoint: url,
      probedAt: "2026-01-01T00:00:00.000Z",
      constructs: {},
      methods: [],
      reachable,
      formats: reachable ? ["text/turtle"] : [],
    });
  });

shouldBe(true, "file", [fact]);
shouldBe(true, "file", []);
shouldBe(true, "tpf", [fact, form]);
shouldBe(false, "tpf", [fact]);

it("a failure is a finding", async () => {
  const failing = canaryOver(async () => Promise.reject(new FedwayError("ENDPOINT_UNREACHABLE", "nobody is there")));
  expect(await failing({ id: "x", url, interface: "file" }, AbortSignal.timeout(1000))).toMatchObject({
    reachable: false,
  });
});

it("a cancelled probe is none", async () => {
  const cancelled = canaryOver(async () => Promise.reject(new FedwayError("CANCELLED", "cancelled")));
  await expect(cancelled({ id: "x", url, interface: "file" }, AbortSignal.timeout(1000))).rejects.toThrow("cancelled");
});
