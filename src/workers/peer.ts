import { Readable } from "node:stream";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { errorOf, tellError, type ToldError } from "./told-error.ts";

/** One end of a message channel to another process of ours. */
export interface Channel {
  send(message: Message): void;
  onMessage(listener: (message: Message) => void): void;
}

/** The other side's reply to a call. */
export interface Reply<Head, End> {
  readonly head: Head;
  /** Destroyed with the error of a call that fails after its head; destroying it cancels the call. */
  readonly body: Readable;
  /** Facts known at the end of the body; rejects with the error of the body. */
  readonly end: Promise<End>;
}

/** How a call is bound. */
interface CallOptions {
  /** Ends the call; its reason becomes the error, here at once and over there as soon as it is heard. */
  readonly signal: AbortSignal;
  /** Receives the handler's notes while it works. */
  onNote?(note: unknown): void;
  /** Called when the other side has finished the call; after a cancellation that is later than its end here. */
  readonly onSettled?: () => void;
}

/** This side's reply to a call. */
export interface Handled<Head = unknown, End = unknown> {
  readonly head: Head;
  readonly body?: AsyncIterable<Uint8Array>;
  /** Asked for at the end of the body. */
  readonly end?: () => End | Promise<End>;
}

/** Context of a handler. */
export interface HandlerContext {
  /** Aborted when the caller has no more use for the answer; its reason is the caller's error. */
  readonly signal: AbortSignal;
  note(value: unknown): void;
}

/** Answers the other side's calls: by a method, so that it may name their type. */
export interface Answerer {
  answer(call: unknown, context: HandlerContext): Promise<Handled>;
}

/** Calls in both directions over one channel: a structured clone there, a head, bytes and an end back. */
export interface Peer<Call> {
  call<Head, End>(call: Call, options: CallOptions): Promise<Reply<Head, End>>;
  /** Fails everything under way. */
  close(error: FedwayError): void;
}

/** Messages on the channel. */
export type Message =
  | { readonly kind: "call"; readonly id: number; readonly call: unknown }
  | { readonly kind: "more"; readonly id: number; readonly chunks: number }
  | { readonly kind: "cancel"; readonly id: number; readonly error: ToldError }
  | { readonly kind: "head"; readonly id: number; readonly head: unknown }
  | { readonly kind: "note"; readonly id: number; readonly note: unknown }
  | { readonly kind: "bytes"; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: "end"; readonly id: number; readonly end: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly error: ToldError };

/** Chunks of one body that may be under way, so that a slow reader bounds what lies in the channel. */
const WINDOW = 4;
const MAX_CHUNK_BYTES = 65_536;

/**
 * Speaks with the peer at the other end of the channel. Both sides are of one version: calls, heads and ends have the types
 * that the other side gives them.
 * @param answerer absent: the other side makes no calls
 */
export function createPeer<Call>(channel: Channel, answerer?: Answerer): Peer<Call> {
  const calls = new Map<number, OutgoingCall>();
  const handled = new Map<number, IncomingCall>();
  const send = (message: Message): void => channel.send(message);
  let nextId = 0;
  let closed: FedwayError | undefined;

  function take(id: number, received: unknown): void {
    const call = new IncomingCall(id, send);
    handled.set(id, call);
    const work = answerer?.answer(received, call) ?? Promise.reject(new Error("Calls are not answered here"));
    void call.answer(work).finally(() => handled.delete(id));
  }

  channel.onMessage((message) => {
    const { id } = message;
    if (message.kind === "call") return take(id, message.call);
    if (message.kind === "more") return handled.get(id)?.more(message.chunks);
    if (message.kind === "cancel") return handled.get(id)?.cancel(toFedwayError(errorOf(message.error)));
    const call = calls.get(id);
    call?.hear(message);
    if (message.kind === "end" || message.kind === "failed") {
      calls.delete(id);
      call?.settled();
    }
  });

  function call<Head, End>(call: Call, options: CallOptions): Promise<Reply<Head, End>>;
  async function call(sent: Call, options: CallOptions): Promise<Reply<unknown, unknown>> {
    if (closed !== undefined || options.signal.aborted) {
      options.onSettled?.();
      throw closed ?? toFedwayError(options.signal.reason);
    }
    const id = nextId++;
    const made = new OutgoingCall(id, options, send);
    calls.set(id, made);
    send({ kind: "call", id, call: sent });
    return made.reply;
  }

  function close(error: FedwayError): void {
    closed = error;
    for (const made of calls.values()) {
      made.fail(error);
      made.settled();
    }
    for (const taken of handled.values()) taken.cancel(error);
    calls.clear();
  }

  return { call, close };
}

/** A call that we made. */
class OutgoingCall {
  readonly #head = Promise.withResolvers<Reply<unknown, unknown>>();
  readonly #end = Promise.withResolvers<unknown>();
  readonly #id: number;
  readonly #body: Readable;
  readonly #options: CallOptions;
  readonly #send: (message: Message) => void;
  #taken = 0;
  #over = false;
  readonly #abort = (): void => this.#cancel(toFedwayError(this.#options.signal.reason));

  constructor(id: number, options: CallOptions, send: (message: Message) => void) {
    this.#id = id;
    this.#options = options;
    this.#send = send;
    this.#end.promise.catch(() => {});
    this.#body = new Readable({
      read: () => this.#grant(),
      destroy: (error, callback) => {
        this.#cancel(toFedwayError(error ?? new FedwayError("CANCELLED", "The answer is not wanted any more.")));
        callback(error);
      },
    });
    // It may fail before it was handed to a reader; readers still receive its failure.
    this.#body.on("error", () => {});
    options.signal.addEventListener("abort", this.#abort, { once: true });
  }

  get reply(): Promise<Reply<unknown, unknown>> {
    return this.#head.promise;
  }

  hear(message: Extract<Message, { kind: "head" | "note" | "bytes" | "end" | "failed" }>): void {
    if (this.#over) return;
    switch (message.kind) {
      case "head":
        return this.#head.resolve({ head: message.head, body: this.#body, end: this.#end.promise });
      case "note":
        return this.#options.onNote?.(message.note);
      case "bytes":
        this.#taken++;
        this.#body.push(message.bytes);
        return;
      case "end":
        this.#leave();
        this.#body.push(null);
        return this.#end.resolve(message.end);
      default:
        return this.fail(toFedwayError(errorOf(message.error)));
    }
  }

  settled(): void {
    this.#options.onSettled?.();
  }

  /** Fails for the caller; nothing is sent to the other side. */
  fail(error: FedwayError): void {
    if (this.#over) return;
    this.#leave();
    this.#head.reject(error);
    this.#end.reject(error);
    this.#body.destroy(error);
  }

  #cancel(error: FedwayError): void {
    if (this.#over) return;
    this.#send({ kind: "cancel", id: this.#id, error: tellError(error) });
    this.fail(error);
  }

  #leave(): void {
    this.#over = true;
    this.#options.signal.removeEventListener("abort", this.#abort);
  }

  #grant(): void {
    if (this.#taken === 0 || this.#over) return;
    this.#send({ kind: "more", id: this.#id, chunks: this.#taken });
    this.#taken = 0;
  }
}

/** A call that the other side made. */
class IncomingCall implements HandlerContext {
  readonly #id: number;
  readonly #send: (message: Message) => void;
  readonly #controller = new AbortController();
  #credit = WINDOW;
  #granted: (() => void) | undefined;

  constructor(id: number, send: (message: Message) => void) {
    this.#id = id;
    this.#send = send;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  note(note: unknown): void {
    if (!this.signal.aborted) this.#send({ kind: "note", id: this.#id, note });
  }

  more(chunks: number): void {
    this.#credit += chunks;
    this.#granted?.();
  }

  cancel(reason: FedwayError): void {
    this.#controller.abort(reason);
    this.#granted?.();
  }

  /** Never rejects: a failure is sent to the caller, also after it has cancelled, so that it knows of the end. */
  async answer(work: Promise<Handled>): Promise<void> {
    const id = this.#id;
    try {
      const { head, body, end } = await work;
      this.#send({ kind: "head", id, head });
      if (body) await this.#stream(body);
      this.#send({ kind: "end", id, end: await end?.() });
    } catch (error) {
      this.#send({ kind: "failed", id, error: tellError(toFedwayError(error)) });
    }
  }

  async #stream(body: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const piece of body) {
      for (let start = 0; start < piece.length; start += MAX_CHUNK_BYTES) {
        while (this.#credit === 0 && !this.signal.aborted) await this.#waitForCredit();
        this.signal.throwIfAborted();
        this.#credit--;
        this.#send({ kind: "bytes", id: this.#id, bytes: piece.subarray(start, start + MAX_CHUNK_BYTES) });
      }
    }
  }

  async #waitForCredit(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#granted = resolve;
    await promise;
  }
}
