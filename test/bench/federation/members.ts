import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newFolder } from "../../support/scratch-folder.ts";
import { startScript } from "./script-process.ts";

/** What the members of a federation were asked. */
export interface Traffic {
  readonly requests: number;
  /** Requests apart from those: what Fedway asks to verify its facts, mostly after the answer. */
  readonly verifications: number;
  /** Of query texts; verifications are in none of the figures below. */
  readonly sentBytes: number;
  /** Of answers. */
  readonly answerBytes: number;
  /** Requests that were answered with an error. */
  readonly refused: number;
  /** Requests by member, of those that were asked. */
  readonly byMember: Readonly<Record<string, number>>;
  /** Requests by their text without keys. */
  readonly byText: Readonly<Record<string, number>>;
}

/** Running members: real SPARQL endpoints over sockets, in a process of their own. */
export type Members = Awaited<ReturnType<typeof startMembers>>;

/** Starts a member for each of these N-Triples by name. */
export async function startMembers(data: Readonly<Record<string, string>>) {
  const file = join(newFolder(), "members.json");
  await writeFile(file, JSON.stringify(data));
  const script = await startScript("member-process", [file]);
  const { control, urls } = JSON.parse(script.line) as { control: string; urls: Readonly<Record<string, string>> };
  const tell = async (path: string): Promise<unknown> => (await fetch(`${control}/${path}`)).json();
  return {
    /** By name. */
    urls,
    /** Milliseconds before each answer. */
    setLatency: async (ms: number): Promise<void> => void (await tell(`latency/${ms}`)),
    /** What was asked since it was last taken. */
    takeTraffic: async (): Promise<Traffic> => (await tell("traffic")) as Traffic,
    stop: () => script.stop(),
  };
}
