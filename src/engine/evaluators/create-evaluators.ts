import { finished } from "node:stream/promises";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { FederatedPlan } from "../../plan/query-plan.ts";
import { type ResultFormat, resultFormats } from "../../results/formats.ts";
import { bytesOf } from "../../results/gathered-body.ts";
import { parseAnswer } from "../../results/parse.ts";
import type { AnswerBytes, Executor } from "../executor.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import { EvaluatorPool, type EvaluatorPoolOptions, type EvaluatorUsage } from "./evaluator-pool.ts";
import { EvaluatorEnded, type RunReply } from "./evaluator-process.ts";

/** Federated plans evaluated in child processes. */
export interface Evaluators extends Executor<FederatedPlan> {
  /** Forks the processes before they are needed; without it the first plan does. */
  start(): void;
  readonly usage: EvaluatorUsage;
  close(): Promise<void>;
}

/**
 * Evaluates federated plans in a small pool of child processes, so that a query that fills its heap or never yields ends
 * its own process and not the service.
 *
 * When a process dies, the runs in it that have sent nothing yet are evaluated again once, each alone in a process, so
 * that the guilty one ends alone; those that have sent bytes are cut off with `EVALUATION_LOST`.
 */
export function createEvaluators(options: EvaluatorPoolOptions): Evaluators {
  const pool = new EvaluatorPool(options);
  const { now } = options.world;

  async function runIn(plan: FederatedPlan, format: ResultFormat, bounds: ExecutionBounds): Promise<RunReply> {
    const attempt = async (alone: boolean): Promise<RunReply> => {
      const place = await pool.enter({ alone, bounds });
      const params = { plan, format, partial: bounds.partial, timeoutMs: Math.max(0, bounds.deadlineMs - now()) };
      return place.process.run({ params, bounds, onSettled: place.leave });
    };
    try {
      return await attempt(false);
    } catch (error) {
      if (!isLost(error)) throw error;
      bounds.sources.clear();
      return await attempt(true).catch((second: unknown) => {
        throw isLost(second) ? guilty(second) : second;
      });
    }
  }

  async function fetch(plan: FederatedPlan, format: ResultFormat, bounds: ExecutionBounds): Promise<AnswerBytes> {
    const { body, end } = await runIn(plan, format, bounds);
    const rows = finished(body).then(async () => (await end).rows);
    // Whoever reads the body hears of its failure there.
    rows.catch(() => {});
    return { contentEncoding: "identity", body, end: rows };
  }

  return {
    start: () => pool.start(),
    get usage() {
      return pool.usage;
    },
    fetch: (plan, { format }, bounds) => fetch(plan, format, bounds),
    async evaluate(plan, bounds) {
      const format = exactFormat(plan);
      const { body } = await fetch(plan, format, bounds);
      return parseAnswer(bytesOf(body), { mediaType: format.mediaType, kind: plan.answer });
    },
    close: () => pool.close(),
  };
}

const isLost = (error: unknown): error is FedwayError => toFedwayError(error).code === "EVALUATION_LOST";

/** A process that had this run alone is gone: nobody else can have been the reason. */
function guilty({ details: { cause } }: FedwayError): FedwayError {
  if (!(cause instanceof EvaluatorEnded) || !cause.wasTooMuch) return toFedwayError(cause);
  return new FedwayError(
    "EVALUATION_TOO_LARGE",
    "The evaluation of this query alone ended its process: it needs more memory or time than one evaluation may have.",
    { next: "Ask for less: a LIMIT, fewer columns, smaller values, no sorting or grouping of everything." },
  );
}

/** A format in which every term comes back as it was. */
function exactFormat({ answer }: FederatedPlan): ResultFormat {
  const name = answer === "quads" ? "ntriples" : "json";
  const format = resultFormats.find((candidate) => candidate.name === name);
  if (!format) throw new Error(`There is no format ${name}`);
  return format;
}
