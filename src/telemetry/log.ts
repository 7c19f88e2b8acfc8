import { type Logger, pino, type DestinationStream } from "pino";
import { steadyClock } from "../clock.ts";

/** How much is written, and what must never be; `Config` fits. */
export interface LogSettings {
  readonly log: { readonly level: string };
  readonly adminToken: string | undefined;
  readonly redisUrl: string | undefined;
  readonly embeddings: { readonly key: string | undefined };
  readonly chat: { readonly key: string | undefined };
  readonly agents: { readonly mcpToken: string | undefined };
  readonly monitor: { readonly webhooks: readonly string[]; readonly webhookSecret: string | undefined };
}

/** What is told of a request. */
type RequestLine = Readonly<Record<string, unknown>> & { readonly query?: string | undefined };

const hidden = "[secret]";

/** User and password of a URL. */
const credentials = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@"\\]{1,500}@/giu;

/** Parts of a URL that give its bearer something: the password, the path and query of a webhook. */
function secretsOf({ adminToken, redisUrl, monitor, embeddings, chat, agents }: LogSettings): readonly string[] {
  const redis = redisUrl === undefined ? null : URL.parse(redisUrl);
  const hooks = monitor.webhooks.flatMap((text) => {
    const { pathname = "", search = "" } = URL.parse(text) ?? {};
    // A short path is no key, and may stand in any line.
    return [text, ...[pathname + search, pathname, search].filter((part) => part.length >= 16)];
  });
  const texts = [
    adminToken,
    monitor.webhookSecret,
    embeddings.key,
    chat.key,
    agents.mcpToken,
    redis?.password,
    decoded(redis?.password),
    ...hooks,
  ];
  const long = texts.filter((text) => text !== undefined).filter((text) => text.length >= 4);
  // As they stand in JSON, longest first: a part must not be taken out of the whole.
  const written = new Set(long.map((text) => JSON.stringify(text).slice(1, -1)));
  return [...written].toSorted((a, b) => b.length - a.length);
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Takes out of lines what must never be written: the configured secrets, and user and password of any URL. Errors of
 * other programs may say what we never would.
 */
export function createMask(settings: LogSettings): (lines: string) => string {
  const secrets = secretsOf(settings);
  return (lines) => {
    let masked = lines.includes("@") ? lines.replace(credentials, `$1${hidden}@`) : lines;
    for (const secret of secrets) if (masked.includes(secret)) masked = masked.replaceAll(secret, hidden);
    return masked;
  };
}

/** A line that is made later, of the moment when it was due. */
interface DueLine {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly line: RequestLine;
}

/** As pino writes it. */
const requestLine = ({ time, line }: DueLine): string =>
  `{"level":${pino.levels.values["info"]},"time":${time},${JSON.stringify(line).slice(1, -1)},"msg":"request"}\n`;

/** The part of the log that tells of requests. */
export interface HttpLog {
  /** A defect, with what is known of it. */
  readonly error: (fields: object, message: string) => void;
  /** Absent when such lines are not wanted. */
  readonly request?: (line: RequestLine) => void;
}

/**
 * The log on standard error. Lines are written in batches: after a quarter of a second, or soon after the batch before is
 * out, and at the end.
 * They are gathered here: pino's own stream measures its whole batch anew with every line. What it is given stays below
 * its `minLength`, so that at the end of the process nothing is under way but what was begun before. The line of a request
 * is put together with its batch: in the middle of a request it costs a tenth of a small answer's time.
 */
export function createLog(settings: LogSettings): { readonly log: Logger; readonly http: HttpLog } {
  const sink = pino.destination({ dest: 2, sync: false, minLength: 16_000, periodicFlush: 250 });
  const batch = new LineBatch<DueLine>(sink, {
    characters: 14_000,
    waitMs: 250,
    lineOf: requestLine,
    mask: createMask(settings),
  });
  const log = pino({ level: settings.log.level, base: null }, batch);
  const request = (line: RequestLine): void => {
    const due = { time: Date.now(), line };
    // Of any length, so that it must be counted at once.
    if (line.query === undefined) batch.add(due);
    else batch.write(requestLine(due));
  };
  const http = { error: log.error.bind(log), ...(log.isLevelEnabled("info") && { request }) };
  return { log, http };
}

/** Logs each distinct error at most once a minute. */
export function faultLog(log: Pick<Logger, "warn">, text: string): (error: unknown) => void {
  const told = new Map<string, number>();
  return (error) => {
    const message = error instanceof Error ? error.message : String(error);
    const nowMs = steadyClock.now();
    if (nowMs - (told.get(message) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    if (told.size >= 100) told.clear();
    told.set(message, nowMs);
    log.warn({ err: error }, text);
  };
}

/** Where batches go: text that is written in its order. */
interface LineSink {
  /** Keeps short texts until it is flushed. */
  write(text: string): unknown;
  /** Begins to write what it keeps. */
  flush(): void;
  /** Writes what it keeps before it returns. */
  flushSync(): void;
}

/** How lines are gathered. */
interface LineBatchOptions<Entry> {
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
