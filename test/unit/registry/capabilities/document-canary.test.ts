import type { Asker } from "../../../../src/outbound/whole-answer.ts";
import type { RdfDocument } from "../../../../src/outbound/documents.ts";
import { DataFactory } from "n3";
import { expect, it } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { documentCanary } from "../../../../src/registry/capabilities/prober.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";

const namedNode = (iri: string) => DataFactory.namedNode(iri);
const url = "http://data.example/x";
const link = (predicate: string) =>
  DataFactory.quad(namedNode(url), namedNode(predicate), namedNode("http://data.example/y"));
const form = link("http://www.w3.org/ns/hydra/core#search");
const fact = link("http://data.example/p");

const clock = { now: () => Date.parse("2026-01-01T00:00:00Z") };
const canary = (fetchDocument: Asker["fetchDocument"], kind: "tpf" | "file") =>
  documentCanary(catalogEntry("x", { url, interface: kind }), {
    asker: { fetchDocument },
    clock,
    signal: AbortSignal.timeout(1_000),
  });

const shouldBe = (reachable: boolean, kind: "tpf" | "file", quads: RdfDocument["quads"]): void =>
  it(`a ${kind} with ${quads.length} triples is ${reachable ? "" : "not "}reachable`, async () => {
    const document = { url, httpStatus: 200, mediaType: "text/turtle", quads, bytes: 10, durationMs: 1 };
    const found = await canary(async () => document, kind);
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
  const failing = async () => Promise.reject(new FedwayError("ENDPOINT_UNREACHABLE", "nobody is there"));
  expect(await canary(failing, "file")).toMatchObject({ reachable: false });
});

it("a cancelled probe is none", async () => {
  const cancelled = async () => Promise.reject(new FedwayError("CANCELLED", "cancelled"));
  await expect(canary(cancelled, "file")).rejects.toThrow("cancelled");
});
