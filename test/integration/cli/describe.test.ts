import type { DescribedOnce, DescribeOnceOptions } from "../../../src/registry/compute/describe-once.ts";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { VoidDescription } from "../../../src/registry/void/void-description.ts";
import { sampleDescription } from "../../support/sample-description.ts";
import { cli, type Outcome } from "../../support/run-cli.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const folder = newFolder();

interface Described extends Outcome {
  readonly asked: { readonly target: string; readonly options: DescribeOnceOptions }[];
}

const finished: VoidDescription = { ...sampleDescription, unfinished: false };

async function describing(argv: readonly string[], result: Partial<DescribedOnce> = {}): Promise<Described> {
  const asked: Described["asked"] = [];
  const outcome = await cli(["describe", ...argv], {
    describe: async (target, options) => {
      asked.push({ target, options });
      return { description: finished, interrupted: false, ...result };
    },
  });
  return { ...outcome, asked };
}

const shouldPrint = (argv: readonly string[], ...parts: readonly RegExp[]): void =>
  it(`prints ${["describe", "people", ...argv].join(" ")}`, async () => {
    const { code, out } = await describing(["people", ...argv]);
    expect(code).toBe(0);
    for (const part of parts) expect(out).toMatch(part);
  });

const shouldMisuse = (argv: readonly string[], message: RegExp): void =>
  it(`refuses ${["describe", ...argv].join(" ")}`, async () => {
    const { code, out, err, asked } = await describing(argv);
    expect({ code, out, asked }).toStrictEqual({ code: 2, out: "", asked: [] });
    expect(err).toMatch(message);
  });

describe("what is written", () => {
  shouldPrint(
    [],
    /^@prefix .*<http:\/\/fedway\.example\/endpoints\/people#dataset> a void:Dataset/s,
    /fedway:factStatus/,
  );
  shouldPrint(["--view", "planner"], /a void:Dataset/, /^((?!factStatus).)*$/s);
  shouldPrint(["--variant", "extended"], /void:uriSpace/);
  shouldPrint(["--format", "ntriples"], /^<\S+> <http:\/\/www\.w3\.org\/1999\/02\/22-rdf-syntax-ns#type> .* \.$/m);
  shouldPrint(["--format", "jsonld"], /^[[{]/, /"@id":\s?"http:\/\/fedway\.example\/endpoints\/people#dataset"/);
  shouldPrint(["--summary"], /^triples: 100$/m, /foaf:Person \(10\): foaf:name/);

  it("is the description itself with --format json", async () => {
    const { out } = await describing(["people", "--format", "json"]);
    expect(JSON.parse(out)).toStrictEqual(JSON.parse(JSON.stringify(finished)));
  });

  it("is not in the standard variant what only extensions can say", async () =>
    expect((await describing(["people"])).out).not.toContain("uriSpace"));

  it("goes into a file with --output, which it replaces", async () => {
    const file = join(folder, "people.json");
    for (const argv of [["--summary"], ["--format", "json"]]) {
      const { code, out } = await describing(["people", "--output", file, ...argv]);
      expect({ code, out }).toStrictEqual({ code: 0, out: "" });
    }
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ endpoint: "http://data.example/sparql" });
    expect(await readdir(folder)).toStrictEqual(["people.json"]);
  });
});

describe("what is asked for", () => {
  it("has the options", async () => {
    const { asked } = await describing(["http://e.example/", "-n", "200", "-t", "5000", "--no-retrieve"]);
    expect(asked).toMatchObject([
      { target: "http://e.example/", options: { budget: { requests: 200, ms: 5000 }, retrieve: false } },
    ]);
  });

  it("is the describer's own budget when not said", async () => {
    const { asked } = await describing(["people"]);
    expect(asked[0]?.options).toMatchObject({ budget: {}, retrieve: true });
  });

  shouldMisuse([], /missing required argument/);
  shouldMisuse(["people", "--format", "csv"], /Allowed choices are turtle, ntriples, jsonld, json/);
  shouldMisuse(["people", "--view", "all"], /Allowed choices are agent, planner/);
  shouldMisuse(["people", "--max-requests", "0"], /whole number of requests/);
  shouldMisuse(["people", "--timeout", "5s"], /whole number of milliseconds/);
  shouldMisuse(["people", "--summary", "--format", "json"], /--summary is text of its own/);
  shouldMisuse(["people", "--format", "json", "--view", "planner"], /--view and --variant are about RDF/);
  shouldMisuse(["people", "--output", "/no/such/folder/file"], /its folder is missing/);
  shouldMisuse(["people", "--output", tmpdir()], /is a folder/);
});

describe("how it ends", () => {
  it("tells what was found and what it took", async () =>
    expect((await describing(["people"])).err).toMatch(/^\d+ classes and \d+ properties found with \d+ requests in /m));

  it("with a failure when the description is unfinished", async () => {
    const { code, out, err } = await describing(["people"], { description: sampleDescription });
    expect(code).toBe(1);
    expect(out).toContain("fedway:unfinished true");
    expect(err).toContain("The description is unfinished");
  });

  it("with success when an unfinished one was asked for", async () =>
    expect((await describing(["people", "--partial"], { description: sampleDescription })).code).toBe(0));

  it("with what was found so far when it is interrupted, also with --partial", async () => {
    for (const argv of [[], ["--partial"]]) {
      const result = { description: sampleDescription, interrupted: true };
      const { code, out, err } = await describing(["people", ...argv], result);
      expect(code).toBe(130);
      expect(out).toContain("fedway:unfinished true");
      expect(err).toContain("Interrupted: the description is unfinished.");
    }
  });

  it("with the reasons why descriptions of the publisher were not used, without control characters", async () => {
    const { err } = await describing(["people"], {
      retrieved: {
        checks: [],
        quarantined: [
          { step: "well-known", from: "http://e.example/.well-known/void", reason: "names \u001b[2J\nothers" },
        ],
        contradicted: [{ step: "endpoint", from: "http://e.example/", reason: "wrong counts" }],
        records: [],
        cost: { requests: 0, bytes: 0, ms: 0 },
      },
    });
    expect(err).toContain("note: http://e.example/.well-known/void was set aside: names \\u001B[2J others\n");
    expect(err).toContain("note: http://e.example/ was not used: wrong counts\n");
  });

  it("with a problem and nothing written when it fails", async () => {
    const { code, out, err } = await cli(["describe", "nix"], {
      describe: async () => {
        throw new FedwayError("ENDPOINT_UNKNOWN", 'no endpoint "nix"', { endpoints: ["people"] });
      },
    });
    expect({ code, out }).toStrictEqual({ code: 1, out: "" });
    expect(err).toContain("endpoints: people");
  });
});
