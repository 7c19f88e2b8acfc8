import { createServer, request as forward } from "node:http";
import { listening } from "./listening.ts";

/** One request that passed a recorder. */
export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

export type Recorder = Awaited<ReturnType<typeof startRecorder>>;

/**
 * A plain HTTP relay in front of one engine that writes down what is asked of it.
 * @param refuses bodies that are answered with 400 in its place
 */
export async function startRecorder(target: string, refuses: (body: string) => boolean = () => false) {
  const { host, pathname } = new URL(target);
  let requests: RecordedRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.once("end", () => {
      const body = Buffer.concat(chunks);
      requests.push({ method: incoming.method ?? "", url: incoming.url ?? "", body: body.toString("utf8") });
      if (refuses(body.toString("utf8"))) {
        outgoing.writeHead(400, { "content-type": "text/plain" }).end("Syntax error");
        return;
      }
      const onward = forward(`http://${host}${incoming.url}`, {
        ...(incoming.method && { method: incoming.method }),
        headers: { ...incoming.headers, host },
      });
      onward.once("response", (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.once("error", () => outgoing.destroy());
      onward.end(body);
    });
  });
  const listener = await listening(server);
  return {
    /** The engine's URL with the recorder's port. */
    url: `${listener.origin}${pathname}`,
    get requests(): readonly RecordedRequest[] {
      return requests;
    },
    clear(): void {
      requests = [];
    },
    close: listener.close,
  };
}
