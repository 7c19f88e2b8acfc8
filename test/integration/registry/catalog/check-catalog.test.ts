import { beforeEach, describe, expect, it } from "vitest";
import {
  type CatalogFolder,
  createCatalogFolder,
  endpointTurtle,
  federationTurtle,
  shapesFile,
} from "../../../support/catalog-folder.ts";
import { type CatalogReport, checkCatalog } from "../../../../src/registry/catalog.ts";

type CheckCatalogOptions = Parameters<typeof checkCatalog>[0];

let folder: CatalogFolder;
beforeEach(async () => {
  folder = await createCatalogFolder();
});

const check = (more: Partial<CheckCatalogOptions> = {}): Promise<CatalogReport> =>
  checkCatalog({ dirs: [{ path: folder.path }], baseUrl: "http://127.0.0.1:4000", shapesFile, ...more });
const described = ['dcterms:description "Things."', "dcterms:license <https://l.example/>"];
/** Findings as `line severity path: reason`, of files without their folder. */
const findingsOf = ({ findings }: CatalogReport): readonly string[] =>
  findings.map(
    ({ file, line, severity, path, reason }) =>
      `${file.slice(folder.path.length + 1)}:${line ?? "?"} ${severity} ${path ?? "-"} ${reason}`,
  );
/** One file beside a good one: what is found about it, and whether the catalogue still conforms. */
async function shouldFind(turtle: string, found: readonly string[], more: Partial<CheckCatalogOptions> = {}) {
  await folder.write({ "a.ttl": endpointTurtle("a", "http://a.example/sparql", ...described), "b.ttl": turtle });
  const report = await check(more);
  expect(findingsOf(report)).toEqual(found.map((text) => expect.stringContaining(text)));
  expect(report.conforms).toBe(!found.some((text) => text.includes(" violation ")));
  expect(report.files).toBe(2);
}
const b = (...statements: readonly string[]): string =>
  endpointTurtle("b", "http://b.example/", ...described, ...statements);

describe("a catalogue file", () => {
  it.each<[string, ...Parameters<typeof shouldFind>]>([
    ["may be all right", b(), []],
    [
      "has no description and no licence",
      endpointTurtle("b", "http://b.example/"),
      [
        "b.ttl:? warning dcterms:description There is no dcterms:description",
        "b.ttl:? info dcterms:license There is no dcterms:license",
      ],
    ],
    ["is no Turtle", "\n<a", ["b.ttl:2 violation - The document is not valid Turtle"]],
    ["is no entry", "<a> <b> <c> .", ["b.ttl:? violation - The document describes no dcat:DataService"]],
    [
      "has a bad row cap",
      b("fedway:rowCap 0"),
      [
        "b.ttl:13 violation - fedway:rowCap is not one whole number",
        "b.ttl:13 violation fedway:rowCap fedway:rowCap is one whole number above zero.",
      ],
    ],
    [
      "has a password",
      endpointTurtle("b", "http://u:secret@b.example/", ...described),
      [
        "b.ttl:10 violation - dcat:endpointURL has a user name or password in it.",
        "b.ttl:10 violation dcat:endpointURL dcat:endpointURL is one http or https URL without a user name",
      ],
    ],
    [
      "has a password outside of an IRI",
      b().replace("<http://b.example/>", "http://u:secret@b.example/"),
      ["b.ttl:10 violation - The document is not"],
    ],
    [
      "has neither URL nor dump",
      b().replace("dcat:endpointURL", "<urn:x:url>"),
      [
        "b.ttl:? violation - dcat:endpointURL is missing.",
        "b.ttl:? violation - There is neither a dcat:endpointURL nor exactly one void:dataDump",
      ],
    ],
    [
      "has a taken id",
      endpointTurtle("a", "http://b.example/", ...described),
      ['b.ttl:8 violation - dcterms:identifier "a" is already taken by'],
    ],
    [
      "has a taken URL",
      endpointTurtle("b", "http://A.example:80/sparql", ...described),
      ["b.ttl:10 violation - dcat:endpointURL <http://A.example:80/sparql> is already taken by"],
    ],
    [
      "has nearly the same URL",
      endpointTurtle("b", "https://a.example/sparql/", ...described),
      ["b.ttl:10 warning - The URL is nearly that of"],
    ],
    [
      "has a private address",
      b(),
      ["b.ttl:10 warning - The URL may not be registered: private."],
      { refuseUrl: (url) => (url.includes("b.example") ? "private." : undefined) },
    ],
    [
      "has our own address",
      endpointTurtle("b", "hosted/b/sparql", ...described),
      [],
      { refuseUrl: (url) => (url.includes("127.0.0.1") ? "private." : undefined) },
    ],
    [
      "is a federation with an unknown member",
      federationTurtle("b", 'dcterms:description "All."', 'fedway:member "a", "c"'),
      ['b.ttl:11 warning - The member "c" is not in the catalogue.'],
    ],
    [
      "is a federation without members",
      federationTurtle("b", 'dcterms:description "All."'),
      ["b.ttl:? violation - None of fedway:member,", "b.ttl:? violation - A federation has members"],
    ],
  ])("%s", (_name, ...row) => shouldFind(...row));
});

describe("checkCatalog", () => {
  it("never shows a password", async () => {
    const turtle = b().replace("<http://b.example/>", "http://u:secret@b.example/");
    await folder.write({ "a.ttl": turtle, "b.ttl": turtle.replaceAll(/http:\/\/u:.*\//g, "<http://u:secret@b/>") });
    const { findings } = await check();
    expect(findings.length).toBeGreaterThan(1);
    expect(JSON.stringify(findings)).not.toContain("secret");
  });
  it("counts what would be there", async () => {
    await folder.write({ "a.ttl": b(), "b.ttl": b(), "c.ttl": federationTurtle("c", 'fedway:memberQuery "x"') });
    expect(await check()).toMatchObject({ files: 3, endpoints: 1, federations: 1, conforms: false });
  });
  it("goes on after very many findings", async () => {
    const bad = Array.from({ length: 500 }, (_, index) => `dcat:keyword <urn:x:${index}>`);
    await folder.write({ "a.ttl": b(...bad), "b.ttl": b(...bad), "c.ttl": b("fedway:rowCap 0"), "d.ttl": b(...bad) });
    const { findings } = await check();
    const shapeFindings = (name: string) =>
      findings.filter(({ file, path }) => file.endsWith(name) && path !== undefined).length;
    expect([shapeFindings("a.ttl"), shapeFindings("c.ttl")]).toEqual([400, 1]);
    expect(Math.min(shapeFindings("b.ttl"), shapeFindings("d.ttl"))).toBeGreaterThanOrEqual(200);
  });
  it("needs the shapes", async () => {
    await folder.write({ "a.ttl": b(), "shapes.txt": "<a" });
    await expect(check({ shapesFile: folder.file("none.ttl") })).rejects.toMatchObject({ code: "CATALOG_INVALID" });
    await expect(check({ shapesFile: folder.file("shapes.txt") })).rejects.toMatchObject({
      code: "CATALOG_INVALID",
      message: expect.stringContaining("not valid Turtle"),
    });
  });
});
