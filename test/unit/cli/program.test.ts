import { Readable, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it, vi } from "vitest";
import type { CliApp, FolderHolder } from "../../../src/cli/cli-io.ts";
import { pour } from "../../../src/cli/output.ts";
import { FedwayError, toProblem } from "../../../src/errors/fedway-error.ts";
import { cli } from "../../support/run-cli.ts";

const body = "a,b\r\n1,2\r\n";
const startNote = 'No service is running: this command runs one and ends it afterwards. "fedway serve" keeps one.\n';

/** A service that answers queries with this text, of which it keeps this record. */
const answering =
  (text: string, record: object = { status: "ok" }, headers: Record<string, string> = {}) =>
  (url: string): Response =>
    url.includes("/api/runs/")
      ? Response.json(record)
      : new Response(text, { headers: { "Content-Type": "text/csv", "Fedway-Run": "r1", ...headers } });

const refusing = (error: FedwayError) => (): Response => Response.json(toProblem(error), { status: 400 });

const shouldMisuse = (name: string, argv: readonly string[], message: string): void =>
  it(`exits with 2 for ${name}`, async () => {
    const { code, err, out } = await cli(argv);
    expect({ code, out }).toStrictEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  });

const misconfigured = async (): Promise<CliApp> => {
  throw new FedwayError("CONFIG_INVALID", 'PORT is "x"; expected a number.');
};

const misspelt = refusing(new FedwayError("QUERY_SYNTAX", "Unexpected WHRE.", { where: { line: 1, column: 8 } }));

async function* brokenOff() {
  yield* ["a", "b"];
  throw new TypeError("terminated");
}

const partial = answering(body, { status: "partial" });

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

  it("says of init which folder cannot be made", async () => {
    const { code, err } = await cli(["init", import.meta.filename]);
    expect(code).toBe(2);
    expect(err).toContain('program.test.ts" cannot be made: ENOTDIR');
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
  it("starts a service, says so once, writes the answer to standard output and ends the service", async () => {
    const { code, out, err, calls, closed, overrides } = await cli(["query", "ASK {}"], { fetch: answering(body) });
    expect({ code, out, err, closed }).toStrictEqual({ code: 0, out: body, err: startNote, closed: 1 });
    expect(overrides).toStrictEqual([undefined]);
    expect(calls[0]).toMatchObject({
      url: "http://127.0.0.1:3000/sparql",
      init: { method: "POST", body: "ASK {}", headers: { Authorization: "Bearer token-of-the-command" } },
    });
  });

  it("reads standard input", async () => {
    const { calls } = await cli(["query", "-"], { stdin: "SELECT * {}", fetch: answering(body) });
    expect(calls[0]?.init?.body).toBe("SELECT * {}");
  });

  it("refuses bytes that are no UTF-8", async () => {
    const { code, err } = await cli(["query", "-"], { stdin: Buffer.from([0xff, 0xfe, 0x41]) });
    expect(code).toBe(1);
    expect(err).toContain("QUERY_ENCODING");
  });

  it("hands options on", async () => {
    const options = ["-f", "csv", "-t", "1500", "--partial", "--strict", "--prune", "trust", "--provenance"];
    const { calls } = await cli(["query", "ASK {}", "-e", "alpha", ...options], { fetch: answering(body) });
    expect(calls[0]?.url).toBe(
      "http://127.0.0.1:3000/endpoints/alpha/sparql?timeout=1500&partial=true&strict=true&provenance=true&prune=trust",
    );
    expect(calls[0]?.init?.headers).toMatchObject({ Accept: "text/csv" });
    const federation = await cli(["query", "ASK {}", "-F", "all", "--no-prune"], { fetch: answering(body) });
    expect(federation.calls[0]?.url).toBe("http://127.0.0.1:3000/federations/all/sparql?prune=false");
  });

  it("asks for CSV in a pipe and prints a table in a terminal", async () => {
    const accepted = ({ calls }: Awaited<ReturnType<typeof cli>>) => new Headers(calls[0]?.init?.headers).get("Accept");
    const tsv = `?name\t?n\n"Zo\u00eb \\"Z\\""@en\t12\n<http://a.example/${"x".repeat(80)}>\t\n`;
    const inTsv = (text: string) => answering(text, {}, { "Content-Type": "text/tab-separated-values; charset=utf-8" });
    const shown = await cli(["query", "ASK {}"], { fetch: inTsv(tsv), isTerminal: true });
    expect(accepted(shown)).toMatch(/^text\/tab-separated-values, text\/turtle/);
    const cut = `http://a.example/${"x".repeat(42)}\u2026`;
    expect(stripVTControlCharacters(shown.out)).toBe(
      `name${" ".repeat(58)}n\n${"-".repeat(60)}  --\nZo\u00eb "Z"${" ".repeat(53)}  12\n${cut}\n`,
    );
    const piped = await cli(["query", "ASK {}"], { fetch: inTsv(tsv) });
    expect([piped.out, accepted(piped)]).toEqual([tsv, expect.stringMatching(/^text\/csv, text\/turtle/)]);
    const inJson = (text: string) => answering(text, {}, { "Content-Type": "application/sparql-results+json" });
    const asked = async (text: string, ...more: readonly string[]) =>
      (await cli(["query", "ASK {}", ...more], { fetch: inJson(text), isTerminal: true })).out;
    const no = '{"head":{},"boolean":false}';
    expect([await asked(no), await asked(no, "-f", "json"), await asked("{}")]).toEqual(["false\n", `${no}\n`, "{}\n"]);
    const named = await cli(["query", "ASK {}", "-f", "tsv"], { fetch: inTsv(tsv), isTerminal: true });
    expect([named.out, accepted(named)]).toEqual([tsv, "text/tab-separated-values"]);
    const empty = await cli(["query", "ASK {}"], { fetch: inTsv("?a\t?b\n"), isTerminal: true });
    expect(stripVTControlCharacters(empty.out)).toBe("a  b\n-  -\n(no rows)\n");
  });
});

// A title of a terminal, a colour, C1 controls, a bidi override and isolate, an invisible tag; and what may be there.
const commands = "\u001B]0;t\u0007\u001B[31m\u009B2J\u0085\u007F\u202E\u2066\u{E0041}";
const controlling = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u{E0000}-\u{E007F}]/u;
const inForm = {
  json: JSON.stringify({ boolean: `a${commands}` }).replaceAll("\\u001b", "\\u001B"),
  xml: `<literal>a${commands}</literal>\r\n`,
  csv: `a${commands}\r\n1\r\n`,
  tsv: `?a${commands}\n"a${commands}"\t"Zo\u00EB"\n`,
  turtle: `<urn:a> <urn:b> "a${commands}" .\n`,
  jsonld: `["a${commands.replaceAll("\u001B", "").replace("\u0007", "")}"]`,
};

describe("text of others", () => {
  const noted = { status: "ok", notes: [{ code: "N", message: commands }] };
  const typeOf = { csv: "text/csv", tsv: "text/tab-separated-values", turtle: "text/turtle", xml: "application/xml" };
  const asked = (form: keyof typeof inForm, isTerminal: boolean, ...more: readonly string[]) => {
    const type = form in typeOf ? typeOf[form as keyof typeof typeOf] : "application/ld+json";
    return cli(["query", "ASK {}", ...more], {
      fetch: answering(inForm[form], noted, { "Content-Type": type, "Fedway-Notes": "N" }),
      isTerminal,
    });
  };

  it.each(Object.keys(inForm) as (keyof typeof inForm)[])("does not control a terminal, in %s", async (form) => {
    const { out, err } = await asked(form, true, "-f", form);
    expect(out).not.toMatch(controlling);
    expect(out).toContain(String.raw`\u202E\u2066`);
    expect(stripVTControlCharacters(err)).not.toMatch(controlling);
    if (form.startsWith("json")) expect(JSON.parse(out)).toEqual(JSON.parse(inForm[form]));
    expect((await asked(form, false, "-f", form)).out).toBe(inForm[form]);
  });

  it("does not control a terminal as a table, whose own styles stay", async () => {
    vi.stubEnv("FORCE_COLOR", "1");
    const { out } = await asked("tsv", true);
    vi.unstubAllEnvs();
    expect(out.startsWith("\u001B[1m")).toBe(true);
    expect(stripVTControlCharacters(out)).not.toMatch(controlling);
    expect(out.split(String.raw`\u001B]0;t\u0007\u001B[31m`)).toHaveLength(3);
  });

  it("does not control a terminal in an error or a list", async () => {
    const error = new FedwayError("ENDPOINT_FAILED", `It said ${commands}`, { where: { endpoint: commands } });
    const { err } = await cli(["query", "ASK {}"], { fetch: refusing(error), isTerminal: true });
    expect(stripVTControlCharacters(err)).not.toMatch(controlling);
    const list = { endpoints: [{ id: "a", title: commands, state: "up" }] };
    for (const more of [[], ["--json"]]) {
      const { out } = await cli(["endpoints", "list", ...more], { fetch: () => Response.json(list), isTerminal: true });
      expect(stripVTControlCharacters(out)).not.toMatch(controlling);
      expect(out).toContain(String.raw`\u202E`);
    }
  });

  it("is shown whole where a line end or a character lies between two parts", async () => {
    const { stream, text } = terminal();
    const bytes = Buffer.from("a\r\n\u202Eb\r");
    await pour(Readable.from([...bytes].map((byte) => Buffer.from([byte]))), stream);
    expect(text()).toBe(String.raw`a${"\n"}\u202Eb\u000D`);
  });
});

function terminal() {
  const written: string[] = [];
  const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => done(void written.push(chunk.toString())) });
  return { stream: Object.assign(stream, { isTTY: true }), text: () => written.join("") };
}

describe("query that fails", () => {
  it("prints a problem with a caret and exits with 1", async () => {
    const { code, err, out, closed } = await cli(["query", "SELECT WHRE {}"], { fetch: misspelt });
    expect({ code, out, closed }).toStrictEqual({ code: 1, out: "", closed: 1 });
    expect(err).toContain("  1 | SELECT WHRE {}\n    |        ^\n");
  });

  it("exits with 1 when the answer breaks off, and says why", async () => {
    const record = { status: "failed", code: "ENDPOINT_BROKE_OFF", detail: "The endpoint broke off." };
    const cut = () => Readable.toWeb(Readable.from(brokenOff()));
    const fetch = (url: string): Response =>
      url.includes("/api/runs/")
        ? Response.json(record)
        : new Response(cut() as ReadableStream, { headers: { "Fedway-Run": "r1" } });
    const { code, out, err } = await cli(["query", "ASK {}"], { fetch });
    expect({ code, out }).toStrictEqual({ code: 1, out: "ab" });
    expect(err).toContain("ENDPOINT_BROKE_OFF");
  });

  it("exits with 130 when it is interrupted, and ends its service", async () => {
    const aborter = new AbortController();
    const { code, err, closed } = await cli(["query", "ASK {}"], {
      interrupted: aborter.signal,
      fetch() {
        aborter.abort();
        throw aborter.signal.reason;
      },
    });
    expect({ code, closed }).toStrictEqual({ code: 130, closed: 1 });
    expect(err).toContain("CANCELLED");
  });

  it("exits with 1 for a partial answer", async () =>
    expect(await cli(["query", "ASK {}"], { fetch: partial })).toMatchObject({
      code: 1,
      err: `${startNote}The answer is partial: rows may be missing.\n`,
    }));
  it("exits with 0 for a partial answer that was asked for", async () =>
    expect((await cli(["query", "ASK {}", "--partial"], { fetch: partial })).code).toBe(0));
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
      "http://127.0.0.1:1/endpoints/alpha/sparql",
      "http://127.0.0.1:1/api/runs/r1?wait=5000",
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

  it("takes an answer to its end for complete when its record is late, and waits for that", async () => {
    const fetch = answering("x\r\n1\r\n", { id: "r1", status: "running" }, { "Fedway-Status": "running" });
    expect(await cli(["query", "ASK {}", ...url], { fetch })).toMatchObject({
      code: 0,
      err: "note: The record of the run is late; whether rows are missing says: fedway runs show r1\n",
    });
  });

  it("believes the head that says partial when there is no record", async () => {
    const head = { "Fedway-Run": "r1", "Fedway-Status": "partial", "Fedway-Partial": "subset" };
    const { code, err } = await cli(["query", "ASK {}", ...url], {
      fetch: (asked) =>
        asked.includes("/api/runs/") ? new Response(null, { status: 404 }) : new Response("x\r\n", { headers: head }),
    });
    expect({ code, err }).toEqual({ code: 1, err: "The answer is partial: rows may be missing.\n" });
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

const planning = (plan: object) => (): Response =>
  Response.json({ kind: "direct", endpoints: [], notes: [], query: "ASK {}", ...plan });

describe("explain", () => {
  it("prints the plan", async () =>
    expect(await cli(["explain", "ASK {}"], { fetch: planning({}) })).toMatchObject({
      code: 0,
      out: "direct\n  query\n    ASK {}\n",
    }));
  it("prints it as JSON", async () => {
    const { out } = await cli(["explain", "ASK {}", "--json"], { fetch: planning({}) });
    expect(JSON.parse(out)).toMatchObject({ kind: "direct", query: "ASK {}" });
  });
  it("exits with 1 for a rejected plan", async () => {
    const problem = toProblem(new FedwayError("SERVICE_REQUIRED", "Which endpoint?"));
    const fetch = planning({ kind: "rejected", problem, query: undefined });
    expect(await cli(["explain", "ASK {}"], { fetch })).toMatchObject({
      code: 1,
      out: "rejected SERVICE_REQUIRED\n  Which endpoint?\n",
    });
    const { code, out, err } = await cli(["explain", "ASK {}", "--portable"], { fetch });
    expect([code, out]).toStrictEqual([1, ""]);
    expect(err).toContain("SERVICE_REQUIRED: The query names no endpoint\nWhich endpoint?");
  });

  it("runs the query for --analyze, within its options", async () => {
    const options = ["--analyze", "--subset", "--timeout", "500"];
    const { code, calls } = await cli(["explain", "ASK {}", ...options], { fetch: planning({}) });
    expect(code).toBe(0);
    expect(calls[0]?.url).toBe("http://127.0.0.1:3000/api/explain");
    const sent: unknown = JSON.parse(calls[0]?.init?.body as string);
    expect(sent).toMatchObject({ query: "ASK {}", analyze: true, partial: "subset", timeoutMs: 500 });
  });

  it("says why that run failed", async () => {
    const failed = { status: "failed", code: "SERVICE_REQUIRED", detail: "The query names none." };
    const run = { id: "r1", startedAt: "2026-01-01T00:00:00Z", bytes: 0, sources: [], notes: [], ...failed };
    const { code, err } = await cli(["explain", "ASK {}", "--analyze"], { fetch: planning({ run }) });
    expect([code, err]).toStrictEqual([1, `${startNote}The run failed (SERVICE_REQUIRED). The query names none.\n`]);
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
    const { code, err, overrides, closed } = await cli(["serve", "--port", "8080", "--catalog", "./c"], {
      interrupted: AbortSignal.abort(),
    });
    expect({ code, closed }).toStrictEqual({ code: 0, closed: 1 });
    expect(err).toContain("http://127.0.0.1:3000");
    expect(overrides).toStrictEqual([{ PORT: "8080", FEDWAY_CATALOG: "./c" }]);
  });
});

describe("a data folder that is held", () => {
  const running = { pid: 7, url: "http://127.0.0.1:4711" };

  it("makes query ask the service that holds it", async () => {
    const { code, out, err, calls, overrides } = await cli(["query", "ASK {}"], {
      holder: running,
      fetch: () => new Response("yes"),
    });
    expect({ code, out, overrides }).toStrictEqual({ code: 0, out: "yes", overrides: [] });
    expect(calls.map(({ url }) => url)).toStrictEqual(["http://127.0.0.1:4711/sparql"]);
    expect(err).toBe("");
  });

  it("is named with what fails there", async () => {
    const { code, err } = await cli(["query", "SELECT WHRE {}"], { holder: running, fetch: misspelt });
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /^note: asked the running service at http:\/\/127\.0\.0\.1:4711, with its settings\nQUERY_SYNTAX/,
      ),
    ]);
  });

  it("is waited for when it began at the same time", async () => {
    const held = new FedwayError("STORE_HELD", "Process 7 holds the data folder.");
    const openApp = vi
      .fn<() => Promise<CliApp>>()
      .mockRejectedValueOnce(held)
      .mockResolvedValue({
        adminToken: "t",
        listen: async () => "http://127.0.0.1:3000",
        startMessage: String,
        close: async () => {},
      });
    const { code, out, err } = await cli(["query", "ASK {}"], { openApp, fetch: () => new Response("yes") });
    expect({ code, out, err }).toStrictEqual({ code: 0, out: "yes", err: startNote });
    openApp.mockReset().mockRejectedValue(held);
    expect(await cli(["query", "ASK {}"], { openApp })).toMatchObject({ code: 1, out: "", closed: 0 });
    expect(openApp.mock.calls.length).toBeLessThan(50);
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
    expect(calls.map(({ url }) => url)).toStrictEqual(["http://127.0.0.1:1/sparql"]);
    expect(err).toBe("");
  });

  const shouldBeHeld = (name: string, holder: FolderHolder, message: string): void =>
    it(`is an error when its holder ${name}`, async () => {
      const { code, out, err, overrides } = await cli(["query", "ASK {}"], {
        holder,
        ...(holder.url === undefined && { interrupted: AbortSignal.timeout(10) }),
      });
      expect({ code, out, overrides }).toStrictEqual({
        code: holder.url === undefined ? 130 : 1,
        out: "",
        overrides: [],
      });
      expect(err).toContain(message);
    });

  shouldBeHeld("has no URL", { pid: 7 }, "STORE_HELD: Another process holds the data folder\nProcess 7 holds");
  shouldBeHeld("is unknown", {}, "Another process holds the data folder and has not said where it answers.");
  shouldBeHeld("has a URL that is none", { url: "file:///etc/passwd" }, "STORE_HELD");
});
