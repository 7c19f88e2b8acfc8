import { Readable, Writable } from "node:stream";
import { styleText, stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { asCommands } from "../../../src/cli/advice.ts";
import { tableLines } from "../../../src/cli/answer-table.ts";
import { safeForTerminal, startSpinner } from "../../../src/cli/terminal.ts";

beforeEach(() => {
  vi.stubEnv("FORCE_COLOR", "1");
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

function createStream(terminal?: { columns: number }) {
  const written: string[] = [];
  const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => done(void written.push(chunk.toString())) });
  return { stream: Object.assign(stream, terminal && { isTTY: true, ...terminal }), text: () => written.join("") };
}

const rows = `?id\t?state\t?title\nalpha\tok\t${"a title ".repeat(20)}\nbeta\tdown\t\u{1F600}\ngamma\tunknown\tok\n`;
const tableOn = (terminal?: { columns: number }, states?: string) =>
  Readable.from(
    tableLines(Buffer.from(rows), createStream(terminal).stream, { longest: 200, ...(states && { states }) }),
  )
    .map((line) => safeForTerminal(String(line)))
    .toArray() as Promise<string[]>;

it("cuts a table to its terminal, and styles its head and its states", async () => {
  const lines = await tableOn({ columns: 30 }, "state");
  expect(lines.map((line) => stripVTControlCharacters(line).trimEnd())).toEqual([
    "id     state    title",
    "-----  -------  -------------…",
    "alpha  ok       a title a tit…",
    "beta   down     \u{1F600}",
    "gamma  unknown  ok",
  ]);
  const head = styleText("bold", "id     state    title", { validateStream: false });
  expect(lines[0]).toBe(`${head}\n`);
  expect(lines[2]).toBe(`alpha  ${styleText("green", "ok", { validateStream: false })}       a title a tit…\n`);
  expect(lines[3]).toContain(styleText("red", "down", { validateStream: false }));
  expect(lines[4]).not.toContain("\u001B");
  expect((await tableOn({ columns: 9 }, "state"))[2]).toBe("alpha  o…\n");
});

it("neither cuts nor styles a table in a pipe, whatever FORCE_COLOR says", async () => {
  const text = (await tableOn(undefined, "state")).join("");
  expect(text).toContain("a title ".repeat(20).trim());
  expect(text).not.toContain("\u001B");
});

it("does not take values of a query for states", async () =>
  expect((await tableOn({ columns: 80 })).slice(1).join("")).not.toContain("\u001B"));

it("shows on a terminal how long it takes from the first second on, and leaves no trace", () => {
  const { stream, text } = createStream({ columns: 80 });
  const stop = startSpinner(stream);
  vi.advanceTimersByTime(900);
  expect(text()).toBe("");
  vi.advanceTimersByTime(2_600);
  expect(text()).toMatch(/^\r\| 1 s[^]*\r. 3 s$/);
  stop();
  expect(text()).toSatisfy((all: string) => all.endsWith("\r\u001B[K"));
  const drawn = text();
  stop();
  vi.advanceTimersByTime(5_000);
  expect(text()).toBe(drawn);
});

it("shows nothing of that in a pipe, and nothing of what is quick", () => {
  const [pipe, quick] = [createStream(), createStream({ columns: 80 })];
  startSpinner(pipe.stream);
  startSpinner(quick.stream)();
  vi.advanceTimersByTime(5_000);
  expect(pipe.text() + quick.text()).toBe("");
});

it.each([
  ["POST /api/endpoints/people/describe has it described.", "fedway describe people has it described."],
  ["POST /api/endpoints/{id}/describe has a member described.", "fedway describe {id} has a member described."],
  [
    "Have the endpoint described again: POST /api/endpoints/{id}/describe.",
    "Have the endpoint described again: fedway describe {id}.",
  ],
  ["POST /api/endpoints/people/capabilities has it probed.", "fedway probe people has it probed."],
  ["GET /api/runs/1f-2.3 gives its record.", "fedway runs show 1f-2.3 gives its record."],
  ["GET /api/jobs/describe.people gives its result.", "fedway jobs show describe.people gives its result."],
  ["GET /api/incidents lists those that are kept.", "fedway incidents list lists those that are kept."],
  [
    "SERVICE takes the URL or the id; /api/endpoints and /api/federations list them.",
    "SERVICE takes the URL or the id; fedway endpoints list and fedway federations list list them.",
  ],
  ["/api/endpoints?property=IRI says which endpoints have what.", "fedway terms IRI says which endpoints have what."],
  [
    "run_query with endpoint=people and these IRIs, without SERVICE.",
    "fedway query --endpoint people with these IRIs, without SERVICE.",
  ],
  ["find_endpoints gives the ids of endpoints.", "fedway find gives the ids of endpoints."],
  ["Ask again with partial=true, or prune=false.", "Ask again with --partial, or --no-prune."],
])("%s", (advice, shown) => expect(asCommands(advice)).toBe(shown));

it.each([
  "GET /api/keys/self shows your use.",
  "GET /api/webhooks/dead lists them.",
  "See http://127.0.0.1:3000/api/endpoints for all.",
  "GET /api/endpoints/people/void has it.",
  "my_find_endpoints is another name.",
])("%s stays", (advice) => expect(asCommands(advice)).toBe(advice));
