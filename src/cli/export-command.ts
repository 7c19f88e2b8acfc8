import { FedwayError } from "../errors/fedway-error.ts";
import { type CliIo, exitCodes, UsageError } from "./cli-io.ts";
import { chooseService } from "./open-runner.ts";
import { oneLine, pour, write } from "./output.ts";
import { checkOutputFile, writeOutputFile } from "./output-file.ts";
import { checked, unreachable } from "./remote-runner.ts";

/** Options of `fedway export`. */
export interface ExportOptions {
  readonly output?: string;
  readonly url?: string;
  readonly reviewed?: boolean;
}

/**
 * `fedway export`: publishes a snapshot of the state of all endpoints, to standard output or into a file. One that looks
 * implausible beside the last published one is refused. Resolves to the exit code.
 * @throws UsageError, RemoteProblem, FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED`
 */
export async function runExport(io: CliIo, { output, url, reviewed = false }: ExportOptions): Promise<number> {
  if (output === "") throw new UsageError("the name of the file is empty");
  if (output !== undefined) await checkOutputFile(output);
  const service = await chooseService(io, url);
  const snapshot = service === undefined ? await publishHere(io, reviewed) : await publishAt(io, service, reviewed);
  const body = Buffer.from(`${JSON.stringify(snapshot, undefined, 2)}\n`);
  if (output === undefined) {
    await pour(body, io.stdout);
  } else {
    await writeOutputFile(output, body);
    await write(io.stderr, `${oneLine(output)}: ${body.byteLength} bytes\n`);
  }
  return exitCodes.ok;
}

async function publishHere(io: CliIo, reviewed: boolean): Promise<unknown> {
  // Standard output belongs to the snapshot, so the service inside writes no log.
  const app = await io.openApp({ FEDWAY_LOG_LEVEL: "silent" });
  try {
    return await app.publishSnapshot({ reviewed });
  } finally {
    await app.close();
  }
}

async function publishAt(io: CliIo, service: string, reviewed: boolean): Promise<unknown> {
  const adminToken = await io.adminToken(service);
  const response = await io
    .fetch(`${service.replace(/\/+$/, "")}/api/snapshot${reviewed ? "?reviewed=true" : ""}`, {
      method: "POST",
      signal: io.interrupted,
      ...(adminToken !== undefined && { headers: { Authorization: `Bearer ${adminToken}` } }),
    })
    .catch((error: unknown) => {
      throw unreachable(error, io.interrupted);
    });
  const answer = await checked(response);
  const body: unknown = await answer.json().catch((error: unknown) => {
    if (error instanceof SyntaxError) return undefined;
    throw unreachable(error, io.interrupted);
  });
  if (typeof body === "object" && body !== null) return body;
  throw new FedwayError("ENDPOINT_MALFORMED", "The service's answer is no snapshot.");
}
