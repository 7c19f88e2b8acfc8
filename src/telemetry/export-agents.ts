import { Agent as HttpAgent, type ClientRequestArgs } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Agents for a client whose own time limit is that of silence. */
export interface ExportAgents {
  /** The agent of a protocol, `http:` or `https:`. */
  readonly of: (protocol: string) => HttpAgent;
  /** Ends every connection and lets no other begin. */
  close(): void;
}

/** Agents whose connections serve one request each and end after `lifeMs`, however slowly an answer drips. */
export function createExportAgents(lifeMs: number): ExportAgents {
  const sockets = new Set<Socket | Duplex>();
  const agents: HttpAgent[] = [];
  let closed = false;

  const limit = (socket: Socket | Duplex): void => {
    const timer = setTimeout(() => socket.destroy(new Error("the collector took too long")), lifeMs);
    timer.unref();
    sockets.add(socket);
    socket.once("close", () => {
      clearTimeout(timer);
      sockets.delete(socket);
    });
  };
  const limited = <Agent extends HttpAgent>(agent: Agent): Agent => {
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (options: ClientRequestArgs, callback) => {
      if (closed) throw new Error("closed");
      const socket = connect(options, callback);
      if (socket) limit(socket);
      return socket;
    };
    agents.push(agent);
    return agent;
  };
  return {
    of: (protocol) =>
      limited(protocol === "https:" ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false })),
    close() {
      closed = true;
      for (const socket of sockets) socket.destroy();
      for (const agent of agents) agent.destroy();
    },
  };
}
