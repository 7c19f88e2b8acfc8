import { setTimeout as sleep } from "node:timers/promises";
import { countTokens } from "gpt-tokenizer";
import type { ToolAnswer } from "../../../src/agent/tool.ts";
import type { Toolbox } from "../../../src/agent/toolbox.ts";
import { startService } from "../../support/running-service.ts";
import { printRows } from "../void/print-rows.ts";
import { golds, tunedOn, unseen, type WeakCall } from "./weak/calls.ts";

const mostCalls = 3;

interface Outcome {
  readonly kind: string;
  /** Of the call whose rows are right; undefined: none was. */
  readonly rightAfter: number | undefined;
  readonly tokens: number;
}

/**
 * Calls with the mistakes of small models over the example federation, each followed to the letter: the next call is what the
 * reply says, three calls at most.
 */
export async function runWeakBench(): Promise<void> {
  const service = await startService({}, { FEDWAY_EXAMPLES: "on" });
  try {
    const ids = ["library", "museums", "people", "places", "weather"];
    for (const id of ids)
      await fetch(`${service.url}/api/endpoints/${id}/describe`, {
        method: "POST",
      });
    for (let waits = 0; (await described(service.url)) < ids.length; waits++) {
      if (waits === 600) throw new Error("the examples were not described within a minute");
      await sleep(100);
    }
    const box = service.app.toolbox("small");
    for (const [name, calls] of [
      ["tuned on", tunedOn],
      ["unseen", unseen],
    ] as const) {
      if (process.env["BENCH_HALF"] !== undefined && process.env["BENCH_HALF"] !== name) continue;
      const outcomes: Outcome[] = [];
      for (const [at, call] of calls.entries()) outcomes.push(await followed(box, call, `${name} ${at}`));
      print(name, outcomes);
    }
  } finally {
    await service.close();
  }
}

async function described(url: string): Promise<number> {
  const { endpoints } = (await (await fetch(`${url}/api/federations/catalog`)).json()) as {
    readonly endpoints: readonly unknown[];
  };
  return endpoints.length;
}

interface Sent {
  readonly tool: string;
  readonly given: Readonly<Record<string, unknown>>;
}

async function followed(box: Toolbox, call: WeakCall, session: string): Promise<Outcome> {
  const caller = {
    signal: new AbortController().signal,
    owner: "bench",
    session,
  };
  const ask = async ({ tool, given }: Sent): Promise<ToolAnswer> => box.call(tool, given, caller);
  const { query, endpoint } = golds[call.gold] ?? { query: "", endpoint: "" };
  const right = new Set<string>();
  // A call may name no place.
  for (const place of [{ endpoint }, {}])
    right.add(
      rowsOf(
        await ask({
          tool: "run_query",
          given: { query, ...place, max_rows: 500 },
        }),
      ),
    );
  if (right.has("")) throw new Error(`${call.gold} has no rows`);
  let sent: Sent = { tool: call.tool, given: call.given as Sent["given"] };
  let tokens = 0;
  const said: string[] = [];
  for (let calls = 1; calls <= mostCalls; calls++) {
    const answer = await ask(sent);
    tokens += countTokens(answer.text);
    if (right.has(rowsOf(answer))) return { kind: call.kind, rightAfter: calls, tokens };
    said.push(`${JSON.stringify(sent)}\n${answer.text}`);
    sent = nextCall(sent, answer.text);
  }
  if (process.env["BENCH_LOST"] !== undefined) process.stdout.write(`\nLOST ${call.kind}:\n${said.join("\n--\n")}\n`);
  return { kind: call.kind, rightAfter: undefined, tokens };
}

/** The lines of the rows, whatever their columns are called. */
const rowsOf = ({ data }: ToolAnswer): string => {
  const csv = typeof data["csv"] === "string" ? data["csv"] : "";
  return csv
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("PREFIX"))
    .slice(1)
    .toSorted()
    .join("\n");
};

/** The call that a reply asks for; the same again where it asks for none. */
function nextCall(sent: Sent, text: string): Sent {
  const query = /^suggested:\n(.*?)(?=\nnext: |$(?![\s\S]))/ms.exec(text)?.[1];
  if (query !== undefined) return { tool: "run_query", given: { ...sent.given, query } };
  return renamed(sent, text) ?? meant(sent, text) ?? repaired(sent, text) ?? moved(sent, text) ?? sent;
}

/** `"sparql" is not known, query is`. */
function renamed({ tool, given }: Sent, text: string): Sent | undefined {
  const [, before, after] = /"([^"]+)" is not known, (\w+) is/.exec(text) ?? [];
  if (before === undefined || after === undefined || !Object.hasOwn(given, before)) return undefined;
  const { [before]: value, ...others } = given;
  return { tool, given: { ...others, [after]: value } };
}

function meant({ tool, given }: Sent, text: string): Sent | undefined {
  const [, after] = /Did you mean <?([\w./:-]+?)>?[?,]/.exec(text) ?? [];
  if (after === undefined) return undefined;
  if (text.includes("TOOL_UNKNOWN")) return { tool: after, given };
  if (!/ENDPOINT_UNKNOWN|SERVICE_TARGET_REFUSED|relative IRI/.test(text)) return undefined;
  const [, named] = /no (?:endpoint|federation)[^"]*"([^"]+)"|relative IRI (\S+) /.exec(text) ?? [];
  const query = String(given["query"]);
  const isInText = named !== undefined && query.includes(`<${named}>`);
  return {
    tool,
    given: isInText ? { ...given, query: query.replace(`<${named}>`, `<${after}>`) } : { ...given, endpoint: after },
  };
}

function repaired({ tool, given }: Sent, text: string): Sent | undefined {
  const offered = /^repair: (?<before>.+?) -> (?<after>.+?)(?: \(.*)?$/m.exec(text);
  const seen = /(?<after>\S+) occurs in the place of (?<before>[^\s(]+)/.exec(text);
  const { before = "", after = "" } = offered?.groups ?? seen?.groups ?? {};
  const query = String(given["query"]);
  if (before === "" || !query.includes(before)) return undefined;
  return {
    tool,
    given: { ...given, query: query.replaceAll(before, () => after) },
  };
}

function moved({ tool, given }: Sent, text: string): Sent | undefined {
  const [, endpoint] = /^endpoints that fit: ([\w-]+)/m.exec(text) ?? [];
  return endpoint === undefined ? undefined : { tool, given: { ...given, endpoint } };
}

function print(name: string, outcomes: readonly Outcome[]): void {
  const rows = [[name, "calls", "right", "1st", "2nd", "3rd", "tokens"]];
  for (const kind of [...new Set(outcomes.map((each) => each.kind)), "all"]) {
    const own = outcomes.filter((each) => kind === "all" || each.kind === kind);
    const after = (calls?: number): string =>
      String(
        own.filter(({ rightAfter }) => (calls === undefined ? rightAfter !== undefined : rightAfter === calls)).length,
      );
    const tokens = own.reduce((sum, each) => sum + each.tokens, 0) / own.length;
    rows.push([kind, String(own.length), after(), after(1), after(2), after(3), tokens.toFixed(0)]);
  }
  printRows(`Mistaken calls, ${name}`, rows);
}
