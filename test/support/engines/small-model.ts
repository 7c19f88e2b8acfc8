import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

const here = (name: string): string => new URL(name, import.meta.url).pathname;

/** A question to the model. */
interface ChatRequest {
  readonly system: string;
  readonly question: string;
  /** GBNF; absent: the model writes freely. */
  readonly grammar?: string;
  readonly maxTokens: number;
}

/** SmolLM2-135M behind llama.cpp's OpenAI-compatible server. */
export type SmallModel = Awaited<ReturnType<typeof startSmallModel>>;

/** The Python environment with the model; fetched when it is not there. */
export async function smallModelPython(): Promise<string> {
  const { stdout } = await promisify(execFile)(here("fetch-small-model.sh"));
  return `${stdout.trim()}/python/bin/python`;
}

/** Starts the model's server; it ends with `close`, or with this process. */
export async function startSmallModel() {
  const server = spawn(await smallModelPython(), [here("small-model-server.py")], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    server.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`the small model's server ended with ${code}`)));
  });
  return {
    /** The base URL of its API: `{url}/v1/chat/completions`. */
    url,
    /** The model's answer to one question, the likeliest token each time. @throws Error with the server's message */
    async ask({ system, question, grammar, maxTokens }: ChatRequest): Promise<string> {
      const messages = [
        { role: "system", content: system },
        { role: "user", content: question },
      ];
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ messages, grammar, max_tokens: maxTokens, temperature: 0, seed: 1 }),
      });
      const text = await response.text();
      if (response.status !== 200)
        throw new Error(`the small model answered ${response.status}: ${text.slice(0, 500)}`);
      const { choices } = JSON.parse(text) as {
        choices: readonly { readonly message: { readonly content: string } }[];
      };
      return choices[0]?.message.content ?? "";
    },
    async close(): Promise<void> {
      const ended = once(server, "exit");
      server.stdin.end();
      await ended;
    },
  };
}
