import { type Command, Option } from "commander";
import { FedwayError } from "../errors/fedway-error.ts";
import { amountText } from "../figures.ts";
import { visible, visibleJson } from "../html.ts";
import { parsedJson } from "../values.ts";
import type { Summary } from "../registry/descriptions.ts";
import {
  type CliIo,
  exitCodes,
  milliseconds,
  type Options,
  requests,
  type Running,
  serviceCommand,
  UsageError,
} from "./cli-io.ts";
import { afterwards, endpointJobs, runJob, withEndpoint } from "./endpoint-jobs.ts";
import { withoutFragment } from "./once-id.ts";
import { oneLine, write, checkOutputFile, writeOutputFile } from "./output.ts";
import { hasFields, searchOf, type Service, withService } from "./service.ts";

const option = (flags: string, text: string, choices: readonly string[]): Option =>
  new Option(flags, text).choices(choices);

/** Adds `describe`. */
export function addDescribe(program: Command, running: Running): void {
  const about = "describe the data behind an endpoint (VoID): the publisher's description, and what queries find out";
  const help = [
    "describe people --summary",
    "describe https://example.org/sparql --output example.ttl --max-requests 200",
    "describe people --view planner --format ntriples",
  ];
  serviceCommand(program, "describe", { about, help })
    .argument("<endpoint>", "URL of a SPARQL endpoint, or its id in the catalogue")
    .addOption(option("-f, --format <format>", "how it is written (turtle)", ["turtle", "ntriples", "jsonld"]))
    .addOption(
      option("--view <view>", "all that is known, or what query planners may rely on (agent)", ["agent", "planner"]),
    )
    .addOption(
      option("--variant <variant>", "VoID, or with what only extensions can say (standard)", ["standard", "extended"]),
    )
    .option("-s, --summary", "a short text: counts, and a line for each class with its properties")
    .option("--json", "the whole description as JSON: the run, the schema with counts, the VoID")
    .option("-o, --output <file>", "write to this file, replacing it at the end")
    .option("-n, --max-requests <number>", "most requests that are sent (1000 and those for the publisher's)", requests)
    .option("-t, --timeout <ms>", "time limit of the whole run in milliseconds (one hour)", milliseconds)
    .option("--no-retrieve", "do not look for the publisher's description, only compute")
    .option("--partial", "a description that is unfinished is a success too")
    .action(running(runDescribe));
}

type DescribeOptions = Options<
  "format" | "view" | "variant" | "output",
  "summary" | "retrieve" | "partial",
  "maxRequests" | "timeout"
>;

/**
 * `fedway describe`: has the service describe one endpoint and writes the description to standard output or into a file. One
 * that is unfinished is written too and is a failure, unless `--partial` was given. Resolves to the exit code.
 * @throws UsageError, RemoteProblem, FedwayError
 */
async function runDescribe(io: CliIo, target: string, options: DescribeOptions): Promise<number> {
  const { output, url, maxRequests, timeout: ms, retrieve, json } = options;
  const documents = documentsOf(options);
  if (output !== undefined) await checkOutputFile(output);
  const search = searchOf({ requests: maxRequests, ms, retrieve: retrieve === false ? false : undefined });
  return withService(io, { url, jobs: endpointJobs, argument: withoutFragment(target) }, (service) =>
    withEndpoint(service, target, async (id) => {
      const at = `/api/endpoints/${encodeURIComponent(id)}`;
      const next = `fedway probe ${target} shows what it answers.`;
      const { result, state } = await runJob(io, { service, path: `${at}/describe${search}`, next });
      if (isSummary(result) && result.answered === 0)
        throw new FedwayError("ENDPOINT_FAILED", "The endpoint answered none of the queries.", { next });
      if (state === "cancelled") await write(io.stderr, "Interrupted: the description is unfinished.\n");
      const texts = textsAt(service, at, documents);
      const body = await (json ? wholeAsJson(result, texts) : texts.then(joined)).catch((error: unknown) => {
        if (state !== "cancelled") throw error;
      });
      if (body !== undefined) await deliver(io, body, options);
      return isSummary(result) ? closing(io, result, options) : exitCodes.interrupted;
    }),
  );
}

async function deliver(io: CliIo, body: string, { output, summary, json, format }: DescribeOptions): Promise<void> {
  const show = json || format?.includes("json") ? visibleJson : visible;
  if (output === undefined) await write(io.stdout, summary ? visible(body) : body, show);
  else await writeOutputFile(output, Buffer.from(body));
}

async function closing(io: CliIo, found: Summary, { partial = false }: DescribeOptions): Promise<number> {
  for (const note of notesOn(found)) await write(io.stderr, `${oneLine(note)}\n`);
  return found.unfinished && !partial ? exitCodes.failed : exitCodes.ok;
}

/** The paths below an endpoint's whose answers are written. @throws UsageError for an option without effect */
function documentsOf({ format, view, variant, summary, json }: DescribeOptions): readonly string[] {
  if (!summary && !json) return [`/void${searchOf({ format: format ?? "turtle", view, variant, whole: true })}`];
  if ((format ?? view ?? variant) !== undefined || (summary && json))
    throw new UsageError("--summary and --json are formats of their own; leave out --format, --view and --variant");
  if (json) return ["/schema?detail=lines&maxTokens=100000", "/void?format=jsonld&whole=true"];
  return ["summary", "lines"].map((detail) => `/schema${searchOf({ detail, format: "text", maxTokens: 4_000 })}`);
}

/** Also after an interruption: what the run has found by then. */
async function textsAt(service: Service, at: string, paths: readonly string[]): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const path of paths) texts.push(await (await service.ask(at + path, afterwards())).text());
  return texts;
}

const joined = (texts: readonly string[]): string => `${texts.map((text) => text.trimEnd()).join("\n\n")}\n`;

/** The API's answers as one: the run's result, the schema and the VoID. */
async function wholeAsJson(result: unknown, texts: Promise<readonly string[]>): Promise<string> {
  const [schema, document] = (await texts).map((text) => parsedJson(text));
  return `${JSON.stringify({ ...(isSummary(result) && result), schema, void: document }, undefined, 2)}\n`;
}

const isSummary = (value: unknown) => hasFields<Summary>(value, "classes", "cost");

function notesOn({ classes, properties, cost, unfinished, retrieved }: Summary): readonly string[] {
  const seconds = (cost.ms / 1000).toFixed(1);
  return [
    ...(retrieved?.quarantined ?? []).map(({ from, reason }) => `note: ${from} was set aside: ${reason}`),
    ...(retrieved?.contradicted ?? []).map(({ from, reason }) => `note: ${from} was not used: ${reason}`),
    `${amountText(classes, "class")} and ${amountText(properties, "property", "properties")} found with ${amountText(cost.requests, "request")} in ${seconds} s`,
    ...(unfinished ? ["The description is unfinished: a larger --max-requests or --timeout may find more."] : []),
  ];
}
