import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BuiltService, startBuiltService } from "../../../support/built-program.ts";
import { entryTurtle } from "../../../support/running-service.ts";
import { newFolder } from "../../../support/scratch-folder.ts";
import { askOverHttp, type Peer, peakBytesOf } from "./peer.ts";

/**
 * Starts the built service with these members in its catalogue, one federation of all of them, and every member described
 * by the service itself. Queries go to the federation.
 * @param readBytes up to which members are read whole for that; absent: as in the product
 */
export async function startFedway(urls: Readonly<Record<string, string>>, readBytes?: number): Promise<Peer> {
  const catalog = newFolder();
  for (const [id, url] of Object.entries(urls)) await writeFile(join(catalog, `${id}.ttl`), entryTurtle(id, url));
  const members = Object.keys(urls).map((id) => `"${id}"`);
  await writeFile(
    join(catalog, "federation-all.ttl"),
    `@prefix dcterms: <http://purl.org/dc/terms/> . @prefix fedway: <https://w3id.org/fedway/ns#> .
    [] a fedway:Federation ; dcterms:identifier "all" ; dcterms:title "All" ; fedway:member ${members.join(", ")} .`,
  );
  const service = await startBuiltService({
    FEDWAY_CATALOG: catalog,
    FEDWAY_EXAMPLES: "off",
    FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
    FEDWAY_LOG_LEVEL: "error",
    ...(readBytes !== undefined && { FEDWAY_READ_BYTES: String(readBytes) }),
  });
  await describeAll(service, Object.keys(urls));
  return {
    name: "Fedway",
    ask: (query, signal) => askOverHttp(`${service.url}/federations/all/sparql`, query, signal),
    askAnywhere: (query, signal) => askOverHttp(`${service.url}/sparql`, query, signal),
    peakBytes: () => peakBytesOf(service.process.pid ?? 0),
    // It ends a query whose client has left.
    giveUp: async () => {},
    stop: async () => void (await service.stop()),
  };
}

/** Has the service describe its endpoints. @throws Error when a job fails */
async function describeAll(service: BuiltService, ids: readonly string[]): Promise<void> {
  const { url } = service;
  const startedMs = performance.now();
  for (const id of ids) {
    const { status } = await fetch(`${url}/api/endpoints/${id}/describe`, { method: "POST" });
    if (status !== 202) throw new Error(`${id} cannot be described: ${status}`);
  }
  await untilNoJobs(service);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  if ((await jobs(url, "failed")) > 0) throw new Error("A member could not be described.");
  process.stderr.write(`bench: ${ids.length} members described in ${seconds} s\n`);
}

/** Waits until the service has nothing to do in the background. @throws Error when that takes more than ten minutes */
export async function untilNoJobs({ url }: BuiltService): Promise<void> {
  const endMs = performance.now() + 600_000;
  for (const state of ["waiting", "running"]) {
    while ((await jobs(url, state)) > 0) {
      if (performance.now() > endMs) throw new Error("Jobs are under way after ten minutes.");
      await sleep(500);
    }
  }
}

async function jobs(url: string, state: string): Promise<number> {
  const response = await fetch(`${url}/api/jobs?state=${state}&limit=1`);
  return ((await response.json()) as { jobs: readonly object[] }).jobs.length;
}
