import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  askForMore,
  askWithComunica,
  askWithFetcher,
  askWithHttpClient,
  named,
  type Outcome,
} from "./clients/clients.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";

const run = promisify(execFile);
const here = (path: string): string => new URL(path, import.meta.url).pathname;

let fedway: Fedway;
let folder: string;

beforeAll(async () => {
  folder = (await run(here("../support/engines/fetch-clients.sh"))).stdout.trim();
  fedway = await startFedway({}, { FEDWAY_EXAMPLES: "on" });
}, 600_000);
afterAll(() => fedway?.close());

async function outcomes(program: string, ...words: readonly string[]): Promise<readonly Outcome[]> {
  const { stdout } = await run(program, words, { timeout: 300_000, maxBuffer: 1e7 });
  return stdout
    .trim()
    .split("\n")
    .map((line): Outcome => JSON.parse(line));
}

/** The client asks for nothing but a format in which this kind of answer cannot be written. */
const cannotBe = ({ client, form, format }: Outcome): boolean => {
  if (form === "ASK" && /^[ct]sv/u.test(format)) return true;
  if (client !== "rdflib SPARQLStore") return false;
  return form === "SELECT" || form === "ASK" ? format === "application/rdf+xml" : /^(?:json|csv|tsv)$/u.test(format);
};

const expected: Readonly<Record<string, unknown>> = { SELECT: 3, ASK: true, CONSTRUCT: 3, DESCRIBE: 12 };

function check(found: readonly Outcome[]): void {
  const read = found.filter((one) => !cannotBe(one));
  expect(read.filter(({ form, outcome }) => outcome !== (expected[form] ?? true))).toEqual([]);
  for (const refused of found.filter(cannotBe)) expect(refused.outcome).toMatch(/406|ValueError/u);
}

describe.each(["/endpoints/people/sparql", "/federations/examples/sparql"])(
  "foreign clients read every form in every format that they offer from %s:",
  (route) => {
    it("SPARQLWrapper, rdflib, pandas", async () => {
      const found = await outcomes(`${folder}/python/bin/python`, here("clients/clients.py"), fedway.url + route);
      expect(found).toHaveLength(100);
      check(found);
    });
    it("Jena, RDF4J", async () => {
      const words = ["-cp", `${folder}/jars/*`, here("clients/Clients.java"), fedway.url + route];
      const found = await outcomes("java", ...words);
      expect(found).toHaveLength(31);
      check(found);
    });
    it("Comunica, fetch-sparql-endpoint, sparql-http-client", () =>
      javascript({ url: fedway.url + route, where: named }));
  },
);

it("JavaScript's clients hand on a SERVICE clause with a catalogue id to /sparql", () =>
  javascript({ url: `${fedway.url}/sparql`, where: `SERVICE <people> { ${named} }` }));

async function javascript(asked: Parameters<typeof askWithComunica>[0]): Promise<void> {
  const found = [
    ...(await askWithComunica(asked)),
    ...(await askWithFetcher(asked)),
    ...(await askWithHttpClient(asked, `${folder}/npm/node_modules`)),
  ];
  expect(found).toHaveLength(46);
  check(found);
  const refused = (await askForMore(asked)).map(({ outcome }) => /"code": ?"(\w+)"/u.exec(String(outcome))?.[1]);
  const notAcceptable = Array.from({ length: 4 }, () => "NOT_ACCEPTABLE");
  expect(refused).toEqual([...notAcceptable, "METHOD_NOT_ALLOWED"]);
}
