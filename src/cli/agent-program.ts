import { type Command, InvalidArgumentError, Option } from "commander";
import type { AskAnswer } from "../agent/ask/ask-answer.ts";
import type { ToolAnswer } from "../agent/tool.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { visible } from "../html.ts";
import { asCommands } from "./advice.ts";
import { type CliIo, exitCodes, type Options, type Running, serviceCommand, wholeNumber } from "./cli-io.ts";
import { queryText } from "./commands.ts";
import { oneLine, write, writeJson } from "./output.ts";
import { endpointJobs } from "./endpoint-jobs.ts";
import { checked, readAnswer, RemoteProblem, type Service, withService } from "./service.ts";

/** Adds `find`, `terms`, `check` and `mcp`: the tools of agents for people, and for agents over standard input and output. */
export function addAgentCommands(program: Command, running: Running): void {
  const addTool = (name: string, about: string, help: readonly string[]): Command =>
    serviceCommand(program, name, { about, help }).option("--json", "the answer as JSON");
  const findExamples = ['find "Which proteins are linked to asthma?"', "find weather --json"];
  addTool("find", "find the endpoints that can answer a question, best first", findExamples)
    .argument("<question>", "in plain words")
    .option("-n, --limit <number>", "most endpoints (5)", wholeNumber)
    .action(
      running((io, question: string, { limit, ...options }: Options<never, never, "limit">) =>
        runTool(io, { name: "find_endpoints", given: { question, limit }, ...options }),
      ),
    );
  const termExamples = ["terms municipality", "terms 'has name' --kind property --endpoint people"];
  addTool("terms", "find the IRIs that stand for a word, and where they are used", termExamples)
    .argument("<words>", "words, an IRI or prefix:name")
    .option("-k, --kind <kind>", "only terms of this kind, such as class or property")
    .option("-e, --endpoint <id...>", "only terms of these endpoints")
    .option("-n, --limit <number>", "most terms (10)", wholeNumber)
    .action(
      running((io, query: string, { kind, endpoint, limit, ...options }: TermOptions) =>
        runTool(io, {
          name: "search_terms",
          given: { query, kind, endpoints: endpoint?.join(","), limit },
          ...options,
        }),
      ),
    );
  const checkExamples = ["check query.rq", "check - < query.rq --json"];
  addTool("check", "check a query before it is run: repairs, unknown terms, cost", checkExamples)
    .argument("<query>", "a file, - for standard input, or the query itself")
    .action(
      running(async (io, argument: string, options: Options) =>
        runTool(io, { name: "check_query", given: { query: await queryText(argument, io) }, ...options }),
      ),
    );
  const help = ["mcp", "mcp --profile small", "mcp --url http://127.0.0.1:3000"];
  const profiles = ["full", "small", "builder", "paper", "benchmark"];
  const about = "serve the tools to an MCP client over standard input and output";
  serviceCommand(program, "mcp", { about, help })
    .addOption(new Option("-p, --profile <profile>", "set of tools").choices(profiles))
    .action(running(runMcp));
}

type TermOptions = Options<"kind", never, "limit"> & { readonly endpoint?: readonly string[] };

type ToolCall = Options & { readonly name: string; readonly given: Readonly<Record<string, unknown>> };

/** Calls a tool of the service, and writes what it says. Resolves to the exit code. @throws RemoteProblem, FedwayError */
async function runTool(io: CliIo, { name, given, url, json }: ToolCall): Promise<number> {
  const { text, data, problem } = await withService(io, { url }, (service) =>
    service.read<ToolAnswer>(`/api/tools/${name}`, { body: given, asClient: true }, "text", "data"),
  );
  if (problem !== undefined) throw new RemoteProblem(problem);
  const shown = visible(text).trimEnd();
  if (json) await writeJson(io, data);
  else await write(io.stdout, `${shown.replace(/(?<=\n)next: .*$/, asCommands)}\n`);
  return data["valid"] === false ? exitCodes.failed : exitCodes.ok;
}

/** `fedway mcp`: nothing but messages goes to standard output. */
async function runMcp(io: CliIo, { url, profile }: Options<"profile">): Promise<number> {
  const { stdin, stdout, interrupted: signal, fetch } = io;
  const use = (service: Service) =>
    io.forwardMcp({ stdin, stdout, signal, fetch, url: service.url, token: service.own, profile });
  await withService(io, { url, announced: true, describes: true, jobs: endpointJobs }, use);
  return exitCodes.ok;
}

const rounds = (text: string): number => {
  if (!/^\d$/.test(text)) throw new InvalidArgumentError("A whole number from 0 to 9 is expected.");
  return Number(text);
};

/** Adds `ask`. */
export function addAsk(program: Command, running: Running): void {
  const about = "have a language model write a query for a question, and run it (FEDWAY_CHAT names the model)";
  const help = ["ask 'Which countries border Austria?'", "ask --rounds 0 --json 'How many people are there?'"];
  serviceCommand(program, "ask", { about, help })
    .argument("<question>", "a question in plain words")
    .option("-r, --rounds <number>", "corrections that the model may make after its first query (2)", rounds)
    .option("-e, --endpoint <id...>", "ask these endpoints, at most three, instead of those that fit the question")
    .option("--json", "the whole answer as JSON, with steps, tokens and cost")
    .action(running(runAsk));
}

type AskOptions = Options<never, never, "rounds"> & { readonly endpoint?: readonly string[] };

/** `fedway ask`: the rows to standard output, the query and its cost to standard error. Resolves to the exit code. */
async function runAsk(io: CliIo, question: string, options: AskOptions): Promise<number> {
  const { endpoint: endpoints, rounds: most, json = false } = options;
  const asked = { question, ...(most !== undefined && { rounds: most }), ...(endpoints && { endpoints }) };
  const answer = await withService(io, { url: options.url }, async (service) => {
    const response = await service.send("/api/ask", { body: asked });
    // A question that failed has an answer too.
    const isAnswered = response.headers.get("content-type")?.startsWith("application/json") === true;
    const good = isAnswered ? response : await checked(response).catch(withoutModel);
    return readAnswer<AskAnswer>(io, good, ["status", "text", "tokens"]);
  });
  if (json) await writeJson(io, answer);
  else {
    await write(io.stdout, `${visible(answer.text)}\n`);
    await write(io.stderr, costText(answer));
  }
  return answer.status === "ok" || answer.status === "empty" ? exitCodes.ok : exitCodes.failed;
}

/** @throws FedwayError `CONFIG_INVALID` where nothing answers questions */
function withoutModel(error: unknown): never {
  if (!(error instanceof RemoteProblem && error.problem.code === "NOT_FOUND")) throw error;
  throw new FedwayError("CONFIG_INVALID", error.problem.detail, error.problem);
}

function costText({ status, query, model, turns, tokens, cost }: AskAnswer): string {
  const about = tokens.estimated ? "about " : "";
  const price = cost === null ? "" : `, cost ${Number(cost.toPrecision(3))}`;
  return [
    `${status}: ${oneLine(model)}, ${turns} ${turns === 1 ? "turn" : "turns"}, ${about}${tokens.input} tokens in and ${tokens.output} out${price}`,
    ...(query === null ? [] : ["query:", ...query.split("\n").map((line) => `  ${oneLine(line)}`)]),
    "",
  ].join("\n");
}
