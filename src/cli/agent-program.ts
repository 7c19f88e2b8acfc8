import { type Command, InvalidArgumentError, Option } from "commander";
import type { ToolAnswer } from "../agent/tool.ts";
import { asCommands } from "./advice.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { visible } from "../html.ts";
import { type CliIo, exitCodes, type Running, serviceCommand, type ServiceOptions } from "./cli-io.ts";
import { queryText } from "./commands.ts";
import { writeJson } from "./noun.ts";
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

interface FindOptions extends ServiceOptions {
  readonly limit?: number;
}

interface TermOptions extends FindOptions {
  readonly kind?: string;
  readonly endpoint?: readonly string[];
}

/** Adds `find`, `terms`, `check` and `mcp`: the tools of agents for people, and for agents over standard input and output. */
export function addAgentCommands(program: Command, running: Running): void {
  const addTool = (name: string, about: string, help: readonly string[]): Command =>
    serviceCommand(program, name, { about, help }).option("--json", "the answer as JSON");
  const findExamples = ['find "Which proteins are linked to asthma?"', "find weather --json"];
  addTool("find", "find the endpoints that can answer a question, best first", findExamples)
    .argument("<question>", "in plain words")
    .option("-n, --limit <number>", "most endpoints (5)", count)
    .action(
      running((io, question: string, { limit, ...options }: FindOptions) =>
        runTool(io, { name: "find_endpoints", given: { question, limit }, ...options }),
      ),
    );
  const termExamples = ["terms municipality", "terms 'has name' --kind property --endpoint people"];
  addTool("terms", "find the IRIs that stand for a word, and where they are used", termExamples)
    .argument("<words>", "words, an IRI or prefix:name")
    .option("-k, --kind <kind>", "only terms of this kind, such as class or property")
    .option("-e, --endpoint <id...>", "only terms of these endpoints")
    .option("-n, --limit <number>", "most terms (10)", count)
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
      running(async (io, argument: string, options: ServiceOptions) =>
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

/** `fedway mcp`: nothing but messages goes to standard output. */
async function runMcp(io: CliIo, { url, profile }: ServiceOptions & { readonly profile?: string }): Promise<number> {
  const { stdin, stdout, interrupted: signal, fetch } = io;
  const use = (service: Service) =>
    io.forwardMcp({ stdin, stdout, signal, fetch, url: service.url, token: service.own, profile });
  await withService(io, { url, announced: true }, use);
  return exitCodes.ok;
}
