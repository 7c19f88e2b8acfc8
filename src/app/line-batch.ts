import type { DestinationStream } from "pino";

/** Where batches go: text that is written in its order. */
export interface LineSink {
  /** Keeps short texts until it is flushed. */
  write(text: string): unknown;
  /** Begins to write what it keeps. */
  flush(): void;
  /** Writes what it keeps before it returns. */
  flushSync(): void;
}

/** How lines are gathered. */
export interface LineBatchOptions {
  /** Characters that are worth a write of their own. */
  readonly characters: number;
  /** Longest time that a line waits, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Gathers lines of a log: a system call and a turn of a thread for each of them would cost more than all that is done to
 * make it. A batch leaves when it is large, when its first line has waited, and with `flushSync`.
 */
export class LineBatch implements DestinationStream {
  readonly #sink: LineSink;
  readonly #options: LineBatchOptions;
  #text = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: LineSink, options: LineBatchOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  write(line: string): void {
    if (this.#text === "") this.#begin();
    this.#text += line;
    if (this.#text.length >= this.#options.characters) this.flush();
  }

  /** What pino calls when somebody flushes the log. */
  flush(done?: () => void): void {
    this.#hand();
    this.#sink.flush();
    done?.();
  }

  readonly flushSync = (): void => {
    this.#hand();
    this.#sink.flushSync();
  };

  /** A log keeps no process alive: what still waits is written as it ends. */
  #begin(): void {
    this.#timer = setTimeout(() => this.flush(), this.#options.waitMs).unref();
    process.once("exit", this.flushSync);
  }

  #hand(): void {
    if (this.#text === "") return;
    clearTimeout(this.#timer);
    process.off("exit", this.flushSync);
    const text = this.#text;
    this.#text = "";
    this.#sink.write(text);
  }
}
