import { toFedwayError } from "../../errors/fedway-error.ts";
import type { DocumentClient } from "../../outbound/documents.ts";
import type { AnswerEnd, AnswerHead, EndpointTarget, SparqlClient } from "../../outbound/sparql-request.ts";
import type { PrunedKeys } from "../../plan/pruned-keys.ts";
import type { FederatedClause } from "../../plan/query-plan.ts";
import type { HeldRows, HolderQuestion } from "../../plan/source-selection.ts";
import { bytesOf } from "../../results/gathered-body.ts";
import type { Handled, HandlerContext } from "../../workers/peer.ts";
import type { ExecutionBounds } from "../execution-bounds.ts";
import type { CoolingDown } from "./cooling-down.ts";
import type { DocumentCall, DocumentHead, QueryCall, ServiceCall } from "./protocol.ts";

/** Access of evaluators to the outside world. */
export interface OutsideWorld {
  readonly client: SparqlClient;
  readonly documents: Pick<DocumentClient, "read">;
  /** The clock of `deadlineMs`. */
  readonly now: () => number;
  /** How a clause is asked at an endpoint that data name. @throws FedwayError where that may not be asked */
  readonly clauseAt?: ((clause: FederatedClause, iri: string) => FederatedClause) | undefined;
  /** Which keys members of a federation may have solutions for; absent: any. */
  readonly holders?: ((question: HolderQuestion, pruned: PrunedKeys | undefined) => Promise<HeldRows>) | undefined;
  /** An endpoint was found to know VALUES, or not. */
  readonly onFound?: ((endpoint: EndpointTarget, found: { readonly lacksValues: boolean }) => void) | undefined;
}

/** The service's side of an evaluator's calls: answers them on behalf of the runs that they are part of. */
export class EvaluatorCalls {
  readonly #world: OutsideWorld;
  /** Members that queries with `partial` do without for a while. */
  readonly #coolingDown: CoolingDown;
  readonly #runs: ReadonlyMap<number, ExecutionBounds>;

  constructor(world: OutsideWorld, coolingDown: CoolingDown, runs: ReadonlyMap<number, ExecutionBounds>) {
    this.#world = world;
    this.#coolingDown = coolingDown;
    this.#runs = runs;
  }

  async answer(call: ServiceCall, { signal }: HandlerContext): Promise<Handled> {
    switch (call.method) {
      case "query":
        return this.#query(call, signal);
      case "document":
        return this.#document(call, signal);
      case "holders":
        return { head: await this.#world.holders?.(call.question, this.#runs.get(call.run)?.pruned) };
      case "clause-at":
        return { head: this.#world.clauseAt?.(call.clause, call.iri) };
      default:
        return { head: this.#world.onFound?.(call.endpoint, { lacksValues: call.lacksValues }) };
    }
  }

  async #query({ run, query, timeoutMs }: QueryCall, signal: AbortSignal): Promise<Handled<AnswerHead, AnswerEnd>> {
    const coolingDown = this.#coolingDown;
    const { client, now } = this.#world;
    const of = this.#runs.get(run);
    const { url, mirror } = query.endpoint;
    if (of?.partial === true && !mirror) coolingDown.require(url, timeoutMs);
    const noteLate = (): void => {
      const { code } = toFedwayError(signal.reason);
      if (code === "DEADLINE_EXCEEDED" && !of?.signal.aborted) coolingDown.tookTooLong(url, timeoutMs);
    };
    signal.addEventListener("abort", noteLate, { once: true });
    const owner = { client: of?.client, trace: of?.trace, partOf: of, fresh: of?.fresh, budget: of?.requests };
    const answer = await client.query({ ...query, ...owner, signal, deadlineMs: now() + timeoutMs });
    const { body, end, whole, ...head } = answer;
    // The reader of the body gets its failure there.
    end.then(() => answer.mirror === undefined && coolingDown.answered(url)).catch(() => {});
    return { head, body: bytesOf(body), end: () => whole ?? end };
  }

  async #document(call: DocumentCall, signal: AbortSignal): Promise<Handled<DocumentHead>> {
    const { method: _, run, ...request } = call;
    const of = this.#runs.get(run);
    of?.requests?.take();
    const arrived = Promise.withResolvers<Handled<DocumentHead>>();
    const over = this.#world.documents.read({ ...request, signal, trace: of?.trace }, async (arriving) => {
      const { url, mediaType, pieces } = arriving;
      const passedOn = Promise.withResolvers<void>();
      async function* body(): AsyncIterable<Uint8Array> {
        try {
          yield* pieces;
          passedOn.resolve();
        } catch (error) {
          passedOn.reject(toFedwayError(error));
          throw error;
        } finally {
          // Left early: nothing more is wanted of the request.
          passedOn.resolve();
        }
      }
      arrived.resolve({ head: { url, mediaType }, body: body(), end: () => over });
      await passedOn.promise;
    });
    over.catch(arrived.reject);
    return arrived.promise;
  }
}
