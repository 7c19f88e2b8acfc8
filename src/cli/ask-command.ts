import { type Command, InvalidArgumentError } from "commander";
import type { AskAnswer } from "../agent/ask/ask-answer.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { visible } from "../html.ts";
import { type CliIo, exitCodes, type Running, serviceCommand, type ServiceOptions } from "./cli-io.ts";
import { writeJson } from "./noun.ts";
import { oneLine, write } from "./output.ts";
import { checked, RemoteProblem, withService } from "./service.ts";

interface AskCommandOptions extends ServiceOptions {
  readonly rounds?: number;
  readonly endpoint?: readonly string[];
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

/** `fedway ask`: the rows to standard output, the query and its cost to standard error. Resolves to the exit code. */
async function runAsk(io: CliIo, question: string, options: AskCommandOptions): Promise<number> {
  const { endpoint: endpoints, rounds: most, json = false } = options;
  const asked = { question, ...(most !== undefined && { rounds: most }), ...(endpoints && { endpoints }) };
  const answer = await withService(io, { url: options.url }, async (service) =>
    answerOf(await service.send("/api/ask", { body: asked })),
  );
  if (json) await writeJson(io, answer);
  else {
    await write(io.stdout, `${visible(answer.text)}\n`);
    await write(io.stderr, costText(answer));
  }
  return answer.status === "ok" || answer.status === "empty" ? exitCodes.ok : exitCodes.failed;
}

async function answerOf(response: Response): Promise<AskAnswer> {
  // A question that failed has an answer too.
  const isAnswered = response.headers.get("content-type")?.startsWith("application/json") === true;
  const good = isAnswered ? response : await checked(response).catch(withoutModel);
  const body: unknown = await good.json().catch(() => undefined);
  if (isAnswer(body)) return body;
  throw new FedwayError("ENDPOINT_MALFORMED", "The service did not answer the question.");
}

/** @throws FedwayError `CONFIG_INVALID` where nothing answers questions */
function withoutModel(error: unknown): never {
  if (!(error instanceof RemoteProblem && error.problem.code === "NOT_FOUND")) throw error;
  throw new FedwayError("CONFIG_INVALID", error.problem.detail, error.problem);
}

const isAnswer = (value: unknown): value is AskAnswer =>
  typeof value === "object" && value !== null && "status" in value && "text" in value && "tokens" in value;

function costText({ status, query, model, turns, tokens, cost }: AskAnswer): string {
  const about = tokens.estimated ? "about " : "";
  const price = cost === null ? "" : `, cost ${Number(cost.toPrecision(3))}`;
  return [
    `${status}: ${oneLine(model)}, ${turns} ${turns === 1 ? "turn" : "turns"}, ${about}${tokens.input} tokens in and ${tokens.output} out${price}`,
    ...(query === null ? [] : ["query:", ...query.split("\n").map((line) => `  ${oneLine(line)}`)]),
    "",
  ].join("\n");
}
