import { describe, expect, it } from "vitest";
import type { CliApp, FolderHolder } from "../../../src/cli/cli-io.ts";
import { FedwayError, toProblem } from "../../../src/errors/fedway-error.ts";
import { fakeAnswer, type FakeQueryService, smallBody, streamOf } from "../../support/fake-query-service.ts";
import { cli } from "../../support/run-cli.ts";

const shouldMisuse = (name: string, argv: readonly string[], message: string): void =>
  it(`exits with 2 for ${name}`, async () => {
    const { code, err, out } = await cli(argv);
    expect({ code, out }).toStrictEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  });

const misconfigured = async (): Promise<CliApp> => {
  throw new FedwayError("CONFIG_INVALID", 'PORT is "x"; expected a number.');
};

const misspelt = (queries: FakeQueryService): void => {
  queries.answer = async () => {
    throw new FedwayError("QUERY_SYNTAX", "Unexpected WHRE.", { where: { line: 1, column: 8 } });
  };
};

const partial = (queries: FakeQueryService): void => {
  queries.answer = async () => fakeAnswer(smallBody, { status: "partial", runId: "unrecorded" });
};

describe("usage", () => {
  shouldMisuse("an unknown command", ["run"], "unknown command");
  shouldMisuse("an unknown option", ["query", "ASK {}", "--fromat", "csv"], "Did you mean --format?");
  shouldMisuse("a missing query", ["query"], "missing required argument");
  shouldMisuse("a timeout that is no number", ["query", "ASK {}", "-t", "5s"], "whole number of milliseconds");
  shouldMisuse("a URL that is none", ["query", "ASK {}", "--url", "localhost"], "http(s) URL");
  shouldMisuse("an unknown format", ["query", "ASK {}", "-f", "xls"], '"xls" is no format; known are json, xml, csv');
  shouldMisuse("two targets", ["query", "ASK {}", "-e", "alpha", "-F", "both"], "cannot be used with option");
  shouldMisuse("a file that is not there", ["query", "no-such-file.rq"], "is no file that can be read, and no query");

  it("exits with 2 for a wrong configuration", async () => {
    const { code, err } = await cli(["query", "ASK {}"], { openApp: misconfigured });
    expect(code).toBe(2);
    expect(err).toContain('PORT is "x"');
  });

  it("prints the version", async () => expect(await cli(["--version"])).toMatchObject({ code: 0, out: "9.8.7\n" }));

  it("prints help with examples and the environment", async () => {
    const { code, out } = await cli(["serve", "--help"]);
    expect(code).toBe(0);
    expect(out).toContain("$ fedway serve --port 8080");
    expect(out).toContain("PORT  Port to listen on. [3000]");
  });
});

describe("query", () => {
  it("writes the answer of a query text to standard output", async () => {
    const { code, out, err, queries, closed } = await cli(["query", "ASK {}"]);
    expect({ code, out, err, closed }).toStrictEqual({ code: 0, out: smallBody.toString(), err: "", closed: 1 });
    expect(queries.requests[0]).toMatchObject({ text: "ASK {}", strict: false, partial: false });
  });

  it("reads standard input", async () => {
    const { queries } = await cli(["query", "-"], { stdin: "SELECT * {}" });
    expect(queries.requests[0]?.text).toBe("SELECT * {}");
  });

  it("refuses bytes that are no UTF-8", async () => {
    const { code, err } = await cli(["query", "-"], { stdin: Buffer.from([0xff, 0xfe, 0x41]) });
    expect(code).toBe(1);
    expect(err).toContain("QUERY_ENCODING");
  });

  it("hands options on", async () => {
    const argv = ["query", "ASK {}", "-e", "alpha", "-f", "csv", "-t", "1500", "--partial", "--strict"];
    const { queries } = await cli(argv);
    expect(queries.requests[0]).toMatchObject({
      endpointId: "alpha",
      accept: "text/csv",
      timeoutMs: 1500,
      partial: true,
      strict: true,
    });
  });

  it("asks a federation, here and at a running service", async () => {
    const argv = ["query", "ASK {}", "--federation", "all"];
    expect((await cli(argv)).queries.requests[0]).toMatchObject({ federationId: "all", endpointId: undefined });
    const { calls } = await cli([...argv, "--url", "http://127.0.0.1:1"], { fetch: () => new Response("yes") });
    expect(calls.map(({ url }) => url)).toStrictEqual(["http://127.0.0.1:1/federations/all/sparql?"]);
  });

  it("asks for CSV in a pipe and prints a table in a terminal", async () => {
    const answering = (contentType: string, text: string) => (queries: FakeQueryService) => {
      queries.answer = async () => fakeAnswer(Buffer.from(text), { contentType });
    };
    const tsv = `?name\t?n\n"Zo\u00eb \\"Z\\""@en\t12\n<http://a.example/${"x".repeat(80)}>\t\n`;
    const prepare = answering("text/tab-separated-values; charset=utf-8", tsv);
    const { out, queries } = await cli(["query", "ASK {}"], { prepare, isTerminal: true });
    expect(queries.requests[0]?.accept).toMatch(/^text\/tab-separated-values, text\/turtle/);
    const cut = `http://a.example/${"x".repeat(42)}\u2026`;
    expect(out).toBe(
      `name${" ".repeat(58)}n\n${"-".repeat(60)}  --\nZo\u00eb "Z"${" ".repeat(53)}  12\n${cut}\n`.replace(
        "    n",
        "    n",
      ),
    );
    expect((await cli(["query", "ASK {}"], { prepare })).out).toBe(tsv);
    expect((await cli(["query", "ASK {}"])).queries.requests[0]?.accept).toMatch(/^text\/csv, text\/turtle/);
    const boolean = answering("application/sparql-results+json", "{}");
    expect((await cli(["query", "ASK {}"], { prepare: boolean, isTerminal: true })).out).toBe("{}\n");
    const named = await cli(["query", "ASK {}", "-f", "tsv"], { prepare, isTerminal: true });
    expect([named.out, named.queries.requests[0]?.accept]).toEqual([tsv, "text/tab-separated-values"]);
    const empty = answering("text/tab-separated-values", "?a\t?b\n");
    expect((await cli(["query", "ASK {}"], { prepare: empty, isTerminal: true })).out).toBe("a  b\n-  -\n(no rows)\n");
  });

  it("keeps the log off standard output", async () =>
    expect((await cli(["query", "ASK {}"])).overrides).toStrictEqual([{ FEDWAY_LOG_LEVEL: "silent" }]));
});

describe("query that fails", () => {
  it("prints a problem with a caret and exits with 1", async () => {
    const { code, err, out, closed } = await cli(["query", "SELECT WHRE {}"], { prepare: misspelt });
    expect({ code, out, closed }).toStrictEqual({ code: 1, out: "", closed: 1 });
    expect(err).toContain("  1 | SELECT WHRE {}\n    |        ^\n");
  });

  it("exits with 1 when the answer breaks off", async () => {
    const broken = new FedwayError("ENDPOINT_BROKE_OFF", "The endpoint broke off.");
    const prepare = (queries: FakeQueryService): void => {
      queries.answer = async () => fakeAnswer(streamOf(["a", "b"], broken));
    };
    const { code, out, err } = await cli(["query", "ASK {}"], { prepare });
    expect({ code, out }).toStrictEqual({ code: 1, out: "ab" });
    expect(err).toContain("ENDPOINT_BROKE_OFF");
  });

  it("exits with 1 for a partial answer", async () =>
    expect(await cli(["query", "ASK {}"], { prepare: partial })).toMatchObject({
      code: 1,
      err: "The answer is partial: rows may be missing.\n",
    }));
  it("exits with 0 for a partial answer that was asked for", async () =>
    expect((await cli(["query", "ASK {}", "--partial"], { prepare: partial })).code).toBe(0));
});

describe("query --subset", () => {
  const kindOf = (kind: string) => (asked: string) =>
    asked.includes("/api/runs/")
      ? Response.json({ status: "partial", partial: kind })
      : new Response("x\r\n1\r\n", { headers: { "Fedway-Run": "r1" } });

  it("asks for rows that are certain", async () => {
    const asked = ["query", "ASK {}", "--subset", "--url", "http://127.0.0.1:1/"];
    const { code, err, calls } = await cli(asked, { fetch: kindOf("subset") });
    expect({ code, err }).toStrictEqual({ code: 0, err: "The answer is partial: rows may be missing.\n" });
    expect(calls[0]?.url).toBe("http://127.0.0.1:1/sparql?partial=subset");
  });
  it("is what --partial is not: there rows may be wrong", async () => {
    const asked = ["query", "ASK {}", "--partial", "--url", "http://127.0.0.1:1/"];
    const { code, err } = await cli(asked, { fetch: kindOf("uncertain") });
    expect({ code, err }).toStrictEqual({
      code: 0,
      err: "The answer is partial (uncertain): some rows may be wrong, because the query uses MINUS, counts or OPTIONAL on missing data.\n",
    });
  });
});

describe("query --url", () => {
  const url = ["--url", "http://127.0.0.1:1/"];

  it("asks the running service and streams its answer", async () => {
    const { code, out, calls, overrides } = await cli(["query", "ASK {}", "-e", "alpha", "-f", "csv", ...url], {
      fetch: (asked) =>
        asked.includes("/api/runs/")
          ? Response.json({ status: "ok" })
          : new Response("x\r\n1\r\n", { headers: { "Fedway-Run": "r1" } }),
    });
    expect({ code, out }).toStrictEqual({ code: 0, out: "x\r\n1\r\n" });
    expect(overrides).toStrictEqual([]);
    expect(calls.map((call) => call.url)).toStrictEqual([
      "http://127.0.0.1:1/endpoints/alpha/sparql?",
      "http://127.0.0.1:1/api/runs/r1",
    ]);
    expect(calls[0]?.init).toMatchObject({
      method: "POST",
      body: "ASK {}",
      headers: { "Content-Type": "application/sparql-query" },
    });
  });

  it("prints the service's problem", async () => {
    const problem = toProblem(new FedwayError("SERVICE_REQUIRED", "Which endpoint?"));
    const { code, err } = await cli(["query", "ASK {}", ...url], {
      fetch: () => Response.json(problem, { status: 400 }),
    });
    expect(code).toBe(1);
    expect(err).toContain("SERVICE_REQUIRED: The query names no endpoint\nWhich endpoint?");
  });

  it("says so when there is no service", async () => {
    const { code, err } = await cli(["explain", "ASK {}", ...url]);
    expect(code).toBe(1);
    expect(err).toMatch(/ENDPOINT_UNREACHABLE|CANCELLED/);
  });

  it("reports a final status that is not the first one", async () => {
    const { code, err } = await cli(["query", "ASK {}", ...url], {
      fetch: (asked) =>
        asked.includes("/api/runs/")
          ? Response.json({ status: "partial" })
          : new Response("x", { headers: { "Fedway-Run": "r1", "Fedway-Status": "ok" } }),
    });
    expect(code).toBe(1);
    expect(err).toContain("The answer is partial");
  });
});

describe("explain", () => {
  it("prints the plan", async () =>
    expect(await cli(["explain", "ASK {}"])).toMatchObject({ code: 0, out: "direct\n  query\n    ASK {}\n" }));
  it("prints it as JSON", async () => {
    const { out } = await cli(["explain", "ASK {}", "--json"]);
    expect(JSON.parse(out)).toMatchObject({ kind: "direct", query: "ASK {}" });
  });
  it("exits with 1 for a rejected plan", async () => {
    const problem = toProblem(new FedwayError("SERVICE_REQUIRED", "Which endpoint?"));
    const prepare = (queries: FakeQueryService): void => {
      queries.explain = () => ({ kind: "rejected", endpoints: [], notes: [], problem });
    };
    expect(await cli(["explain", "ASK {}"], { prepare })).toMatchObject({
      code: 1,
      out: "rejected SERVICE_REQUIRED\n  Which endpoint?\n",
    });
    const { code, out, err } = await cli(["explain", "ASK {}", "--portable"], { prepare });
    expect([code, out]).toStrictEqual([1, ""]);
    expect(err).toContain("SERVICE_REQUIRED: The query names no endpoint\nWhich endpoint?");
  });

  it("runs the query for --analyze, within its options", async () => {
    const options = ["--analyze", "--subset", "--timeout", "500"];
    const { code, queries } = await cli(["explain", "ASK {}", ...options]);
    expect(code).toBe(0);
    expect(queries.requests).toMatchObject([{ text: "ASK {}", partial: "subset", timeoutMs: 500 }]);
  });

  it("says why that run failed", async () => {
    const prepare = (queries: FakeQueryService): void => {
      const analyze = queries.analyze.bind(queries);
      queries.analyze = async (request) => {
        const plan = await analyze(request);
        const failed = { status: "failed", code: "SERVICE_REQUIRED", detail: "The query names none." } as const;
        return plan.run === undefined ? plan : { ...plan, run: { ...plan.run, ...failed } };
      };
    };
    const { code, err } = await cli(["explain", "ASK {}", "--analyze"], { prepare });
    expect([code, err]).toStrictEqual([1, "The run failed (SERVICE_REQUIRED). The query names none.\n"]);
  });

  for (const [options, message] of [
    [["--portable", "--json"], "use one of them"],
    [["--portable", "--analyze"], "use one of them"],
    [["--timeout", "500"], "--timeout is for a run: use it with --analyze"],
    [["--partial"], "--partial is for a run"],
    [["--subset"], "--subset is for a run"],
  ] as const) {
    shouldMisuse(`explain ${options.join(" ")}`, ["explain", "ASK {}", ...options], message);
  }
});

describe("serve", () => {
  it("listens with the options as environment, until interrupted", async () => {
    const { code, err, overrides, closed } = await cli(["serve", "--port", "8080", "--catalog", "./c"]);
    expect({ code, closed }).toStrictEqual({ code: 0, closed: 1 });
    expect(err).toContain("http://127.0.0.1:3000");
    expect(overrides).toStrictEqual([{ PORT: "8080", FEDWAY_CATALOG: "./c" }]);
  });
});

describe("a data folder that is held", () => {
  const running = { pid: 7, url: "http://127.0.0.1:4711" };

  it("makes query ask the service that holds it, and says so", async () => {
    const { code, out, err, calls, overrides } = await cli(["query", "ASK {}"], {
      holder: running,
      fetch: () => new Response("yes"),
    });
    expect({ code, out, overrides }).toStrictEqual({ code: 0, out: "yes", overrides: [] });
    expect(calls.map(({ url }) => url)).toStrictEqual(["http://127.0.0.1:4711/sparql?"]);
    expect(err).toBe(
      "note: a running service holds the data folder; it answers at http://127.0.0.1:4711, with its settings\n",
    );
  });

  it("makes explain ask it too", async () => {
    const plan = { kind: "direct", endpoints: [], notes: [], query: "ASK { <urn:remote> ?p ?o }" };
    const { code, out } = await cli(["explain", "ASK {}"], { holder: running, fetch: () => Response.json(plan) });
    expect({ code, out }).toStrictEqual({ code: 0, out: "direct\n  query\n    ASK { <urn:remote> ?p ?o }\n" });
  });

  it("is of no interest with --url", async () => {
    const { calls, err } = await cli(["query", "ASK {}", "--url", "http://127.0.0.1:1"], {
      holder: running,
      fetch: () => new Response("yes"),
    });
    expect(calls.map(({ url }) => url)).toStrictEqual(["http://127.0.0.1:1/sparql?"]);
    expect(err).toBe("");
  });

  const shouldBeHeld = (name: string, holder: FolderHolder, message: string): void =>
    it(`is an error when its holder ${name}`, async () => {
      const { code, out, err, overrides } = await cli(["query", "ASK {}"], { holder });
      expect({ code, out, overrides }).toStrictEqual({ code: 1, out: "", overrides: [] });
      expect(err).toContain(message);
    });

  shouldBeHeld("has no URL", { pid: 7 }, "STORE_HELD: Another process holds the data folder\nProcess 7 holds");
  shouldBeHeld("is unknown", {}, "Another process holds the data folder and has not said where it answers.");
  shouldBeHeld("has a URL that is none", { url: "file:///etc/passwd" }, "STORE_HELD");
});
