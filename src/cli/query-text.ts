import { readFile } from "node:fs/promises";
import { isUtf8 } from "node:buffer";
import { FedwayError } from "../errors/fedway-error.ts";
import { type CliIo, UsageError } from "./cli-io.ts";

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new FedwayError("QUERY_ENCODING", "The query is not UTF-8 text.");
  return bytes.toString("utf8");
}

const looksLikeQuery = (text: string): boolean => /[\s{}]/.test(text);

/**
 * The query that an argument means: `-` is standard input, the name of a file its content, anything with blanks or
 * braces is the query itself.
 * @throws UsageError when it is neither; FedwayError `QUERY_ENCODING`
 */
export async function queryText(argument: string, { stdin }: Pick<CliIo, "stdin">): Promise<string> {
  if (argument === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
    return decoded(Buffer.concat(chunks));
  }
  if (looksLikeQuery(argument)) {
    const content = await readFile(argument).catch(() => undefined);
    return content ? decoded(content) : argument;
  }
  const content = await readFile(argument).catch((error: unknown) => {
    throw new UsageError(`"${argument}" is no file that can be read, and no query`, { cause: error });
  });
  return decoded(content);
}
