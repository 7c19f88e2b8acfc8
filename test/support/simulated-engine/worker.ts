import { parentPort, workerData } from "node:worker_threads";
import { describedUnits } from "../described-data.ts";
import { type EngineServer, startEngineServer } from "./engine-server.ts";
import { timeLimitMs } from "./policy.ts";
import type { EngineBoot, EngineCommand, EngineEvent } from "./protocol.ts";
import { createSimulatedStore } from "./simulated-store.ts";

/** Hosts simulated engines over one graph in a thread of its own: their work never blocks those who ask them. */
const boot = workerData as EngineBoot;
const send = (event: EngineEvent): void => parentPort?.postMessage(event, []);

const withParts = boot.policies.some(({ timeLimit }) => timeLimit?.ending.startsWith("partial"));
const store = createSimulatedStore(describedUnits(boot.shape), withParts);
const triples = store.countSolutions("{ ?s ?p ?o }");
const engines = new Map<string, EngineServer>();
for (const policy of boot.policies) {
  const work = policy.timeLimit?.work ?? triples * 0.3;
  const workPerSecond = (1_000 * work) / timeLimitMs;
  engines.set(policy.name, await startEngineServer({ policy, store, workPerSecond, aheadMs: boot.aheadMs }));
}

parentPort?.on("message", (command: EngineCommand) => {
  execute(command).catch((error: unknown) => send({ kind: "failed", id: command.id, message: String(error) }));
});
send({ kind: "ready", triples, ports: new Map([...engines].map(([name, { port }]) => [name, port])) });

async function execute({ id, kind, engine }: EngineCommand): Promise<void> {
  const server = engines.get(engine);
  if (server === undefined) throw new Error(`no engine ${engine}`);
  if (kind === "revive") await server.revive();
  send({ kind: "done", id, statistics: server.statistics });
}
