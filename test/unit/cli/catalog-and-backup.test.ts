import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { cli } from "../../support/run-cli.ts";
import type { CatalogReport } from "../../../src/registry/catalog.ts";

const clean: CatalogReport = { files: 2, endpoints: 1, federations: 1, findings: [], conforms: true };
const broken: CatalogReport = {
  ...clean,
  findings: [
    { file: "c/a.ttl", line: 4, severity: "violation", path: "dcterms:title", reason: "There is no title." },
    { file: "c/b.ttl", severity: "warning", reason: "odd \u001b[31m\nname" },
    { file: "c/b.ttl", severity: "info", path: "dcterms:license", reason: "There is no dcterms:license." },
  ],
  conforms: false,
};

describe("catalog check", () => {
  it("prints a line a finding and a summary, and fails", async () => {
    const { code, out } = await cli(["catalog", "check"], { report: () => broken });
    expect(code).toBe(1);
    expect(out.split("\n")).toStrictEqual([
      "c/a.ttl:4: error: dcterms:title: There is no title.",
      "c/b.ttl: warning: odd \\u001B[31m name",
      "c/b.ttl: info: There is no dcterms:license.",
      "2 files: 1 endpoints, 1 federations; 1 errors, 1 warnings, 1 hints",
      "",
    ]);
  });

  it("prints the report as JSON", async () => {
    const { code, out } = await cli(["catalog", "check", "--json"], { report: () => broken });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toStrictEqual(broken);
  });

  it("succeeds without errors", async () =>
    expect(await cli(["catalog", "check"], { report: () => clean })).toMatchObject({ code: 0, err: "" }));

  it("hands the folders on", async () => {
    const asked: (readonly string[])[] = [];
    const report = (folders: readonly string[]): CatalogReport => {
      asked.push(folders);
      return clean;
    };
    await cli(["catalog", "check", "one", "two"], { report });
    await cli(["catalog", "check"], { report });
    expect(asked).toStrictEqual([["one", "two"], []]);
  });

  it("fails for a folder that cannot be read", async () => {
    const report = (): CatalogReport => {
      throw new FedwayError("CATALOG_INVALID", "The catalogue folder nix cannot be read.");
    };
    const { code, err } = await cli(["catalog", "check", "nix"], { report });
    expect(code).toBe(1);
    expect(err).toContain("The catalogue folder nix cannot be read.");
  });

  it("refresh says what it has written, and where", async () => {
    const refreshCatalog = async (file: string) => ({
      folder: `${file}/published/`,
      written: ["a", "b"],
      unchanged: 3,
    });
    const { code, out } = await cli(["catalog", "refresh", "facts.json"], { refreshCatalog });
    expect([code, out]).toEqual([0, "facts.json/published/: 2 changed (a, b), 3 unchanged\n"]);
  });

  it("is explained by catalog alone, which is a misuse", async () => {
    const { code, err } = await cli(["catalog"]);
    expect(code).toBe(2);
    expect(err).toContain("check [options] [folder...]");
  });
});

describe("backup", () => {
  it("copies into the file and tells its size", async () => {
    const files: string[] = [];
    const { code, out, err } = await cli(["backup", "state.db"], {
      backup: async (file) => {
        files.push(file);
        return { bytes: 4096 };
      },
    });
    expect({ code, out, err, files }).toStrictEqual({
      code: 0,
      out: "",
      err: "state.db: 4096 bytes\n",
      files: ["state.db"],
    });
  });

  it("fails with the reason", async () => {
    const { code, err } = await cli(["backup", "state.db"], {
      backup: async () => {
        throw new FedwayError("REQUEST_INVALID", "The target of the backup exists already.", {
          next: "Name a new file.",
        });
      },
    });
    expect(code).toBe(1);
    expect(err).toContain("exists already.\nnext: Name a new file.");
  });

  it("needs a file", async () => {
    expect(await cli(["backup"])).toMatchObject({ code: 2, out: "" });
    expect(await cli(["backup", ""])).toMatchObject({ code: 2, out: "" });
  });
});
