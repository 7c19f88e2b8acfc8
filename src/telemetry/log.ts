import { type Logger, pino, type DestinationStream } from "pino";
import { keyInText } from "../clients/client-name.ts";
import { steadyClock } from "../clock.ts";
import { visibleJson } from "../html.ts";

/** How much is written, and what must never be; `Config` fits. */
export interface LogSettings {
  readonly log: { readonly level: string };
  readonly adminToken: string | undefined;
  /** Secrets that may change. */
  readonly secrets?: (() => readonly string[]) | undefined;
  readonly redisUrl: string | undefined;
  readonly embeddings: { readonly key: string | undefined };
  readonly chat: { readonly key: string | undefined };
  readonly agents: { readonly mcpToken: string | undefined };
  readonly monitor: { readonly webhooks: readonly string[]; readonly webhookSecret: string | undefined };
}

/** The fields of a request's line. */
type RequestLine = Readonly<Record<string, unknown>>;

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
  const fixed = secretsOf(settings);
  return (lines) => {
    const keyless = lines.includes("fw_") ? lines.replaceAll(keyInText, `fw_$1_${hidden}`) : lines;
    let masked = keyless.includes("@") ? keyless.replace(credentials, `$1${hidden}@`) : keyless;
    for (const secret of [...fixed, ...(settings.secrets?.() ?? [])])
      if (masked.includes(secret)) masked = masked.replaceAll(secret, hidden);
    return masked;
  };
}

/** The log of the HTTP server. */
export interface HttpLog {
  /** Logs a defect. */
  readonly error: (fields: object, message: string) => void;
  /** Absent when such lines are not wanted. */
  readonly request?: (line: RequestLine) => void;
}

/**
 * The log on standard error. Lines are gathered in batches (`LineBatch`), since pino's own stream measures its whole batch
 * anew with every line. A batch stays below `minLength` of that stream, so that at the end of the process nothing is under
 * way but what was begun before.
 */
export function createLog(settings: LogSettings): { readonly log: Logger; readonly http: HttpLog } {
  const sink = pino.destination({ dest: 2, sync: false, minLength: 16_000, periodicFlush: 250 });
  const masked = createMask(settings);
  const mask = process.stderr.isTTY ? (lines: string): string => visibleJson(masked(lines)) : masked;
  const batch = new LineBatch(sink, { characters: 14_000, waitMs: 250, mask });
  const log = pino({ level: settings.log.level, base: null }, batch);
  const request = (line: RequestLine): void => log.info(line, "request");
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
  /** Begins to write its held lines. */
  flush(): void;
  /** Writes its held lines before it returns. */
  flushSync(): void;
}

/** How lines are gathered. */
interface LineBatchOptions {
  /** Characters that are worth a write of their own. */
  readonly characters: number;
  /** Longest time that a line waits, in milliseconds. */
  readonly waitMs: number;
  /** Takes out of a whole batch what must not be written. */
  readonly mask: (text: string) => string;
}

/**
 * Gathers lines of a log, since a system call and a turn of a thread for each of them would cost more than making it. A
 * batch is written when it is large, when its first line has waited, and with `flushSync`.
 */
export class LineBatch implements DestinationStream {
  readonly #sink: LineSink;
  readonly #options: LineBatchOptions;
  #waiting = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: LineSink, options: LineBatchOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  write(line: string): void {
    if (this.#waiting === "") this.#begin();
    this.#waiting += line;
    if (this.#waiting.length >= this.#options.characters) this.flush();
  }

  /** Called by pino when the log is flushed. */
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
    if (this.#waiting === "") return;
    clearTimeout(this.#timer);
    process.off("exit", this.flushSync);
    const text = this.#waiting;
    this.#waiting = "";
    this.#sink.write(this.#options.mask(text));
  }
}
