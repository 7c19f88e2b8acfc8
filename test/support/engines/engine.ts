import type { ServerProcess } from "./server-process.ts";

/** A real SPARQL engine under test. */
export interface Engine {
  /** SPARQL Protocol query URL. */
  readonly url: string;
  /** Process id of the server; changes with `restart`. */
  pid(): number;
  /** SIGKILL, as when the machine dies. */
  kill(): Promise<void>;
  /** Starts the server again on the same port with the same data. */
  restart(): Promise<void>;
  /** Ends the server and removes its scratch folder. */
  stop(): Promise<void>;
}

/** An engine whose server is started by `start`, again and again at the same URL. */
export async function startEngine(url: string, start: () => Promise<ServerProcess>): Promise<Engine> {
  let running = await start();
  return {
    url,
    pid: () => running.pid,
    kill: () => running.kill(),
    restart: async () => {
      await running.kill();
      running = await start();
    },
    stop: () => running.stop(),
  };
}
