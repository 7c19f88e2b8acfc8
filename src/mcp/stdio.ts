import type { Readable, Writable } from "node:stream";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { createMcpServer, type McpParts } from "./create-server.ts";

/** Serves one client over standard input and output until it closes the input or `signal` aborts. */
export async function serveMcpStdio(
  parts: McpParts,
  { stdin, stdout, signal }: { readonly stdin: Readable; readonly stdout: Writable; readonly signal: AbortSignal },
): Promise<void> {
  const transport = new StdioServerTransport(stdin, stdout);
  const handle = serveStdio(() => createMcpServer(parts, { owner: "stdio", session: "stdio" }), { transport });
  await new Promise<void>((resolve) => {
    if (signal.aborted || stdin.readableEnded) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    stdin.once("end", () => resolve());
    stdin.once("close", () => resolve());
  });
  await handle.close();
}
