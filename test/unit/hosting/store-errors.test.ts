import { describe, expect, it } from "vitest";
import { isUpdate, lostWorker, refusedQuery, tooLarge } from "../../../src/hosting/store-errors.ts";
import { WorkerLost } from "../../../src/hosting/store-worker.ts";

const refused = (message: string, query = "SELECT *") => refusedQuery(message, { endpoint: "alpha", query });

describe("refusedQuery", () => {
  it("gives line and column of a syntax error", () => {
    const error = refused("error at 2:3: expected OPTIONAL", "SELECT *\n{ }}");
    expect(error.code).toBe("QUERY_SYNTAX");
    expect(error.details.where).toEqual({ line: 2, column: 3, endpoint: "alpha" });
    expect(error.message).toBe("The query is not valid SPARQL at line 2, column 3: expected OPTIONAL");
  });
  it("counts columns in UTF-16 code units", () => {
    expect(refused("error at 1:4: expected x", "🌍🌍é?").details.where?.column).toBe(6);
  });
  it("explains an unknown prefix", () => {
    expect(refused("error at 1:1: expected one of Prefix not found, ['%']").message).toMatch(/prefix .* not declared/);
  });
  it("explains a relative IRI", () => {
    expect(refused("error at 1:1: expected IRI parsing failed").message).toMatch(/IRI is relative or malformed/);
  });
  it("shortens the list of expectations", () => {
    expect(refused(`error at 1:1: expected ${"x, ".repeat(300)}`).message.length).toBeLessThan(300);
  });
  it("refuses an update", () => {
    expect(refused("error at 1:10: expected CONSTRUCT", "INSERT DATA {}").code).toBe("UPDATE_REFUSED");
  });
  it("says that nothing is dialled", () => {
    const error = refused("The service <http://x.example/> is not supported");
    expect(error.code).toBe("ENDPOINT_REJECTED_QUERY");
    expect(error.message).toContain("SERVICE <http://x.example/>");
    expect(error.details.next).toBe("Put the SERVICE clauses side by side in one query to /sparql.");
  });
  it("passes other reasons on", () => {
    expect(refused("something else").message).toBe("The hosted endpoint alpha refused the query: something else");
  });
});

const shouldBeUpdate = (query: string, expected: boolean) => () => expect(isUpdate(query)).toBe(expected);

describe("isUpdate", () => {
  for (const word of ["INSERT DATA {}", "delete where {}", "WITH <g> DELETE {}", "LOAD <x>", "CLEAR ALL", "DROP ALL"]) {
    it(`knows ${word}`, shouldBeUpdate(word, true));
  }
  for (const word of ["CREATE GRAPH <g>", "ADD <a> TO <b>", "MOVE <a> TO <b>", "COPY <a> TO <b>"]) {
    it(`knows ${word}`, shouldBeUpdate(word, true));
  }
  it(
    "looks behind the prologue",
    shouldBeUpdate("# c\nBASE <http://x#> PREFIX a: <http://y#>\nPREFIX : <z> # INSERT\n DELETE {}", true),
  );
  it("is no query", shouldBeUpdate("SELECT * { ?s ?p 'INSERT DATA {}' }", false));
  it("is no comment", shouldBeUpdate("# INSERT DATA {}\nASK {}", false));
  it("is no longer word", shouldBeUpdate("INSERTS", false));
  it("is quick on hostile text", () => {
    const startMs = performance.now();
    expect(isUpdate(`${"PREFIX a: ".repeat(50_000)}<`)).toBe(false);
    expect(isUpdate(`${" #\n".repeat(200_000)}DROP ALL`)).toBe(true);
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });
});

describe("other failures", () => {
  it("names the memory cap", () => {
    const error = lostWorker(new WorkerLost("memory", "unreachable"), "alpha", 64);
    expect(error.code).toBe("ENDPOINT_FAILED");
    expect(error.message).toBe("The query needed more than the 64 MB of memory that the hosted endpoint alpha has.");
  });
  it("tells no internals of a crash", () => {
    const error = lostWorker(new WorkerLost("trap", "panicked at secret.rs:3"), "alpha", 64);
    expect(error.message).toBe("The hosted endpoint alpha failed on the query and is being restarted.");
    expect(error.cause).toBeInstanceOf(WorkerLost);
  });
  it("names both sizes of a large answer", () => {
    expect(tooLarge(12, 10, "alpha")).toMatchObject({
      code: "ANSWER_TOO_LARGE",
      message: "The answer of the hosted endpoint alpha has 12 bytes; at most 10 are allowed.",
    });
  });
});
