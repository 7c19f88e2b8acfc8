import type { FastifyInstance, FastifyReply, preValidationHookHandler } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { FairQueue } from "../workers/fair-queue.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Requests take no turn: they pass an admission of their own, or must never wait. */
    withoutTurn?: boolean;
  }
  interface FastifyRequest {
    /** Ends the request's turn early, where only waiting is left; later calls change nothing. */
    endTurn: (() => void) | undefined;
  }
}

const limits = {
  /** Requests under way; one client alone has half of them. */
  underWay: 8,
  /** Requests that wait, of all clients and of one. A request is held as its headers and its body, which both have limits. */
  waiting: 2_000,
  waitingOfClient: 500,
  /** How often turns are checked while requests wait, and how long one may last then, in milliseconds. */
  checkMs: 50,
  longestMs: 500,
  retryAfterMs: 1_000,
};

interface Turn {
  readonly owner: string;
  readonly raw: FastifyReply["raw"];
  /** Goes on with the request. */
  readonly begin: () => void;
  state: "waiting" | "under way" | "over";
  sinceMs: number;
  /** Gives it back. */
  done: () => void;
}

/**
 * Has requests take turns by client, so that one who sends many delays its own. A turn lasts from the validation of a
 * request to the end of its response. While others wait it ends early where only waiting is left, for a client that reads
 * slowly or for something else.
 */
export function addClientTurns(app: FastifyInstance): void {
  const turns = createTurns();
  app.decorateRequest("endTurn");
  const waitForTurn: preValidationHookHandler = (request, reply, done) => {
    const { raw } = reply;
    if (raw.closed) {
      done();
      return;
    }
    const { owner } = request.caller;
    const turn: Turn = { owner, raw, begin: done, state: "waiting", sinceMs: 0, done: () => {} };
    const end = (): void => turns.end(turn);
    request.endTurn = end;
    if (turns.enter(turn)) raw.once("close", end);
    else done(busy());
  };
  app.addHook("onRoute", (route) => {
    if (route.config?.withoutTurn !== true) route.preValidation = [waitForTurn, route.preValidation ?? []].flat();
  });
}

function createTurns() {
  const queue = new FairQueue<Turn>({ maxWaiting: limits.waiting, maxPerClient: limits.waitingOfClient });
  // Those that are over count until a request waits and the event loop has read what came meanwhile. Else a client whose
  // requests all arrive in one turn of the event loop, and are answered at once, would never wait.
  let turns: Turn[] = [];
  let next: NodeJS.Immediate | undefined;
  let check: NodeJS.Timeout | undefined;

  const mayBegin = ({ owner }: Turn): boolean => queue.servedOf(owner) < limits.underWay - turns.length;
  const begin = (turn: Turn, done: () => void): void => {
    turn.state = "under way";
    turn.sinceMs = performance.now();
    turn.done = done;
    turns.push(turn);
    turn.begin();
  };
  const proceed = (): void => {
    next = undefined;
    for (const { state, done } of turns) if (state === "over") done();
    turns = turns.filter(({ state }) => state !== "over");
    const taken = queue.size === 0 ? undefined : queue.take(mayBegin);
    if (taken === undefined) return;
    // One in each turn of the event loop.
    next = setImmediate(proceed);
    begin(taken.item, taken.done);
  };
  const end = (turn: Turn): void => {
    const { state } = turn;
    turn.state = "over";
    if (state === "waiting") queue.remove(turn);
    else if (queue.size > 0) next ??= setImmediate(proceed);
  };
  const checkTurns = (): void => {
    check = undefined;
    if (queue.size === 0) return;
    check = setTimeout(checkTurns, limits.checkMs);
    const oldestMs = performance.now() - limits.longestMs;
    for (const turn of turns) {
      const { raw, sinceMs } = turn;
      if (raw.writableEnded || raw.writableNeedDrain || sinceMs < oldestMs) end(turn);
    }
  };
  return {
    end,
    /** Begins a turn, now or later; false when too many wait already. */
    enter(turn: Turn): boolean {
      if (queue.size === 0 && mayBegin(turn)) {
        begin(turn, queue.serve(turn.owner));
        return true;
      }
      if (queue.push(turn.owner, turn) !== "waiting") return false;
      next ??= setImmediate(proceed);
      check ??= setTimeout(checkTurns, limits.checkMs);
      return true;
    },
  };
}

const busy = (): FedwayError =>
  new FedwayError("SERVICE_BUSY", "Too many requests wait for their turn already.", {
    retryAfterMs: limits.retryAfterMs,
    next: "Try again in a moment, with fewer requests at once.",
  });
