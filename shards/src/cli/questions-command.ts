import { exitCodes } from "../../../src/cli/cli-io.ts";
import { checkOutputFile, oneLine, write, writeJson, writeOutputFile } from "../../../src/cli/output.ts";
import { namedInputs } from "../load/input.ts";
import { type ShardIo, unlessInterrupted } from "./shard-commands.ts";

/** Options of `fedway shards questions`. */
interface QuestionsCommandOptions {
  readonly out?: string;
  readonly seed: number;
  readonly most: number;
}

const mostShown = 10;

/** `fedway shards questions`: a file of queries for `shards build`. Resolves to the exit code. @throws FedwayError */
export async function runShardQuestions(
  io: ShardIo,
  files: readonly string[],
  { out, seed, most }: QuestionsCommandOptions,
): Promise<number> {
  if (out !== undefined) await checkOutputFile(out, "--out");
  const commands = await io.shards();
  const inputs = namedInputs(files.map((path) => ({ path })));
  const made = await unlessInterrupted(io, () => commands.questions(inputs, { seed, most, signal: io.interrupted }));
  if (made === undefined) return exitCodes.interrupted;
  const { questions, uncovered } = made;
  const text = `${JSON.stringify(questions, undefined, 2)}\n`;
  await (out === undefined ? write(io.stdout, text) : writeOutputFile(out, Buffer.from(text)));
  const kinds = Map.groupBy(questions, ({ kind }) => kind);
  const counts = [...kinds].map(([kind, some]) => `${some.length} ${kind}`).join(", ");
  const lines = [
    `${questions.length} questions${counts === "" ? "; no class has properties that questions could be about" : ` (${counts})`}`,
    ...(uncovered.length === 0 ? [] : [`${uncovered.length} properties are in none of them:`]),
    ...uncovered.slice(0, mostShown).map((iri) => `- ${oneLine(iri)}`),
    ...(uncovered.length > mostShown ? [`- ${uncovered.length - mostShown} more`] : []),
  ];
  await write(io.stderr, `${lines.join("\n")}\n`);
  return questions.length === 0 ? exitCodes.failed : exitCodes.ok;
}

/** Options of `fedway shards rekey`. */
interface RekeyCommandOptions {
  readonly out: string;
  readonly seed: number;
  readonly opaque?: boolean;
  readonly allow?: readonly string[];
  readonly json?: boolean;
}

/** `fedway shards rekey`: twins of described datasets. Resolves to the exit code. @throws FedwayError */
export async function runShardRekey(
  io: ShardIo,
  spec: string,
  { out, seed, opaque = false, allow = [], json = false }: RekeyCommandOptions,
): Promise<number> {
  const commands = await io.shards();
  const options = { out, seed, opaque, allow, signal: io.interrupted };
  const twins = await unlessInterrupted(io, () => commands.rekey(spec, options));
  if (twins === undefined) return exitCodes.interrupted;
  const text = twins.map(({ dataset, triples, questions, leftOut, properties, texts }) =>
    [
      `${dataset}: ${triples} triples, ${questions} questions`,
      ...leftOut.slice(0, mostShown).map(({ id, why }) => oneLine(`- ${id} left out: ${why}`)),
      ...properties.slice(0, mostShown).map(({ iri, why }) => oneLine(`- values of ${iri} stay: ${why}`)),
      ...texts.slice(0, mostShown).map((each) => oneLine(`- "${each.text}" stays: ${each.why}`)),
      "rekey.json lists all that stays.\n",
    ].join("\n"),
  );
  await (json ? writeJson(io, twins) : write(io.stdout, text.join("")));
  return exitCodes.ok;
}
