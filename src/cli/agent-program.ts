import { type Command, InvalidArgumentError, Option } from "commander";
import type { ToolAnswer } from "../agent/tool.ts";
import { asCommands } from "./advice.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { visible } from "../html.ts";
import { type CliIo, examples, exitCodes, httpUrl, type Running } from "./cli-io.ts";
import { queryText } from "./commands.ts";
import { type ServiceOptions, writeJson } from "./noun.ts";
import { write } from "./output.ts";
import { RemoteProblem, type Service, withService } from "./service.ts";

interface ToolCall extends ServiceOptions {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Calls a tool of the service, and writes what it says. Resolves to the exit code. @throws RemoteProblem, FedwayError */
async function runTool(io: CliIo, { name, given, url, json }: ToolCall): Promise<number> {
  const answer: unknown = await withService(io, { url }, async (service) =>
    (await service.ask(`/api/tools/${name}`, { body: given, asClient: true })).json(),
  );
  if (!isAnswer(answer)) throw new FedwayError("ENDPOINT_MALFORMED", "The service did not answer as a tool does.");
  const { text, data, problem } = answer;
  if (problem !== undefined) throw new RemoteProblem(problem);
  if (json) await writeJson(io, data);
  else
    await write(
      io.stdout,
      `${visible(text)
        .trimEnd()
        .replace(/(?<=\n)next: .*$/, asCommands)}\n`,
    );
  return data["valid"] === false ? exitCodes.failed : exitCodes.ok;
}

const isAnswer = (value: unknown): value is ToolAnswer =>
  typeof value === "object" && value !== null && "text" in value && "data" in value && typeof value.text === "string";

const count = (text: string): number => {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A whole number is expected.");
};

const withToolOptions = (command: Command): Command =>
  command.option("--json", "the answer as JSON").option("--url <url>", "ask this running service", httpUrl);

interface FindOptions extends ServiceOptions {
  readonly limit?: number;
}

interface TermOptions extends FindOptions {
  readonly kind?: string;
  readonly endpoint?: readonly string[];
}

interface McpOptions {
  readonly url?: string;
  readonly profile?: string;
}

/** Adds `find`, `terms`, `check` and `mcp`: the tools of agents for people, and for agents over standard input and output. */
export function addAgentCommands(program: Command, running: Running): void {
  withToolOptions(program.command("find").description("find the endpoints that can answer a question, best first"))
    .argument("<question>", "in plain words")
    .option("-n, --limit <number>", "most endpoints (5)", count)
    .addHelpText("after", () => examples('find "Which proteins are linked to asthma?"', "find weather --json"))
    .action(
      running((io, question: string, { limit, ...options }: FindOptions) =>
        runTool(io, { name: "find_endpoints", given: { question, limit }, ...options }),
      ),
    );
  withToolOptions(program.command("terms").description("find the IRIs that stand for a word, and where they are used"))
    .argument("<words>", "words, an IRI or prefix:name")
    .option("-k, --kind <kind>", "only terms of this kind, such as class or property")
    .option("-e, --endpoint <id...>", "only terms of these endpoints")
    .option("-n, --limit <number>", "most terms (10)", count)
    .addHelpText("after", () => examples("terms municipality", "terms 'has name' --kind property --endpoint people"))
    .action(
      running((io, query: string, { kind, endpoint, limit, ...options }: TermOptions) =>
        runTool(io, {
          name: "search_terms",
          given: { query, kind, endpoints: endpoint?.join(","), limit },
          ...options,
        }),
      ),
    );
  withToolOptions(program.command("check").description("check a query before it is run: repairs, unknown terms, cost"))
    .argument("<query>", "a file, - for standard input, or the query itself")
    .addHelpText("after", () => examples("check query.rq", "check - < query.rq --json"))
    .action(
      running(async (io, argument: string, options: ServiceOptions) =>
        runTool(io, { name: "check_query", given: { query: await queryText(argument, io) }, ...options }),
      ),
    );
  addMcp(program, running);
}

function addMcp(program: Command, running: Running): void {
  program
    .command("mcp")
    .description("serve the tools to an MCP client over standard input and output")
    .addOption(
      new Option("-p, --profile <profile>", "set of tools").choices(["full", "small", "builder", "paper", "benchmark"]),
    )
    .option("--url <url>", "pass everything on to this running service", httpUrl)
    .addHelpText("after", () => examples("mcp", "mcp --profile small", "mcp --url http://127.0.0.1:3000"))
    .action(running(runMcp));
}

/** `fedway mcp`: nothing but messages goes to standard output. */
async function runMcp(io: CliIo, { url, profile }: McpOptions): Promise<number> {
  const { stdin, stdout, interrupted: signal, fetch } = io;
  const use = (service: Service) =>
    io.forwardMcp({ stdin, stdout, signal, fetch, url: service.url, token: service.own, profile });
  await withService(io, { url, announced: true }, use);
  return exitCodes.ok;
}
