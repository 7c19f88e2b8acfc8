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
export interface LineBatchOptions<Entry> {
  /** Characters that are worth a write of their own. */
  readonly characters: number;
  /** Longest time that a line waits, in milliseconds. */
  readonly waitMs: number;
  /** The line of an entry, with its end. */
  readonly lineOf: (entry: Entry) => string;
  /** Takes out of a whole batch what must not be written. */
  readonly mask: (text: string) => string;
}

/** No line of an entry is longer by much. */
const entryCharacters = 320;

/**
 * Gathers lines of a log: a system call and a turn of a thread for each of them would cost more than all that is done to
 * make it. A batch leaves when it is large, when its first line has waited, and with `flushSync`. Entries become lines
 * only then: in a row that costs less than in the middle of a request.
 */
export class LineBatch<Entry extends object> implements DestinationStream {
  readonly #sink: LineSink;
  readonly #options: LineBatchOptions<Entry>;
  #waiting: (string | Entry)[] = [];
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: LineSink, options: LineBatchOptions<Entry>) {
    this.#sink = sink;
    this.#options = options;
  }

  write(line: string): void {
    this.#take(line, line.length);
  }

  /** Takes what becomes a line later, of at most some 300 characters; nobody may change it. */
  add(entry: Entry): void {
    this.#take(entry, entryCharacters);
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

  #take(one: string | Entry, characters: number): void {
    if (this.#waiting.length === 0) this.#begin();
    this.#waiting.push(one);
    this.#characters += characters;
    if (this.#characters >= this.#options.characters) this.flush();
  }

  /** A log keeps no process alive: what still waits is written as it ends. */
  #begin(): void {
    this.#timer = setTimeout(() => this.flush(), this.#options.waitMs).unref();
    process.once("exit", this.flushSync);
  }

  #hand(): void {
    if (this.#waiting.length === 0) return;
    clearTimeout(this.#timer);
    process.off("exit", this.flushSync);
    const { lineOf, mask } = this.#options;
    const lines = this.#waiting;
    this.#waiting = [];
    this.#characters = 0;
    let text = "";
    for (const one of lines) text += typeof one === "string" ? one : lineOf(one);
    this.#sink.write(mask(text));
  }
}
