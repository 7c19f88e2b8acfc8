import type { IncomingMessage, ServerResponse } from "node:http";
import { type ReceivedMessage, startWebhookReceiver } from "../webhook-receiver.ts";
import type { Ledger, RunStep } from "./ledger.ts";
import { workSecret } from "./open-work.ts";

/** A receiver that takes its time for each answer, and notes in the ledger what came and what it answered. */
export interface SlowReceiver {
  readonly url: string;
  readonly received: readonly ReceivedMessage[];
  /** The next message of this worker is not answered. */
  holdNextOf(worker: string): void;
  close(): Promise<void>;
}

/** More messages than any test sends. */
const mostMessages = 10_000;

/** Starts one on a free port of 127.0.0.1. */
export async function startSlowReceiver(ledger: Ledger): Promise<SlowReceiver> {
  const receiver = await startWebhookReceiver(workSecret);
  let held: string | undefined;
  const react = (response: ServerResponse, { headers }: IncomingMessage): void => {
    const worker = /fedway\/(\S+)/i.exec(headers["user-agent"] ?? "")?.[1] ?? "";
    const note = (step: RunStep): void => ledger.note({ worker, step, job: String(headers["webhook-id"]) });
    note("received");
    if (held === worker) {
      held = undefined;
      note("held");
      return;
    }
    setTimeout(
      () => {
        // Nobody is there any more: what is answered now is not heard.
        if (response.destroyed) return;
        note("answered");
        response.writeHead(204).end();
      },
      20 + 60 * Math.random(),
    );
  };
  receiver.react(...Array.from({ length: mostMessages }, () => react));
  return {
    url: `${receiver.origin}/told`,
    received: receiver.received,
    holdNextOf(worker) {
      held = worker;
    },
    close: () => receiver.close(),
  };
}
