import { fork } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A catalogue folder of endpoints that all answer the canary. */
export interface ManyEndpoints {
  readonly folder: string;
  /** Queries answered so far. */
  answered(): Promise<number>;
  close(): Promise<void>;
}

interface Report {
  readonly port?: number;
  readonly answered?: number;
}

const entry = (id: string, url: string): string =>
  `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dcterms: <http://purl.org/dc/terms/> .
[] a dcat:DataService ; dcterms:identifier "${id}" ; dcterms:title "Endpoint ${id}" ;
  dcterms:description "Describes things of the kind ${id}." ; dcat:endpointURL <${url}> .`;

/** Starts them; each has a host of its own. @throws Error when the process does not start */
export async function openManyEndpoints(count: number): Promise<ManyEndpoints> {
  const child = fork(fileURLToPath(new URL("canary-process.ts", import.meta.url)));
  const next = (): Promise<Report> =>
    new Promise((resolve, reject) => {
      child.once("message", (report) => resolve(report as Report));
      child.once("exit", (code) => reject(new Error(`the canary process ended with code ${code}`)));
    });
  const { port } = await next();
  const folder = await mkdtemp(join(tmpdir(), "fedway-bench-"));
  for (let index = 0; index < count; index++) {
    const host = `127.1.${Math.floor(index / 250)}.${(index % 250) + 1}`;
    await writeFile(join(folder, `e${index}.ttl`), entry(`e${index}`, `http://${host}:${port}/sparql`));
  }
  return {
    folder,
    async answered() {
      child.send("report");
      return (await next()).answered ?? 0;
    },
    async close() {
      child.disconnect();
      await rm(folder, { recursive: true });
    },
  };
}
