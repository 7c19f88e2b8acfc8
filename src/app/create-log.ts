import { type Logger, pino } from "pino";
import type { Config } from "../config/config.ts";
import type { HttpLog, RequestLine } from "../http/http-deps.ts";
import { LineBatch } from "./line-batch.ts";

/** What the log needs of the configuration: how much is written, and what must never be. */
export type LogSettings = Pick<Config, "log" | "adminToken" | "redisUrl"> & {
  readonly monitor: Pick<Config["monitor"], "webhooks" | "webhookSecret">;
};

const hidden = "[secret]";

/** User and password of a URL. */
const credentials = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@"\\]{1,500}@/giu;

/** Parts of a URL that give its bearer something: the password, the path and query of a webhook. */
function secretsOf({ adminToken, redisUrl, monitor }: LogSettings): readonly string[] {
  const redis = redisUrl === undefined ? null : URL.parse(redisUrl);
  const hooks = monitor.webhooks.flatMap((text) => {
    const { pathname = "", search = "" } = URL.parse(text) ?? {};
    // A short path is no key, and may stand in any line.
    return [text, ...[pathname + search, pathname, search].filter((part) => part.length >= 16)];
  });
  const texts = [adminToken, monitor.webhookSecret, redis?.password, decoded(redis?.password), ...hooks];
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
const lineOf = ({ time, line }: DueLine): string =>
  `{"level":${pino.levels.values["info"]},"time":${time},${JSON.stringify(line).slice(1, -1)},"msg":"request"}\n`;

/** The log, and the part of it that tells of requests. */
export interface ServiceLog {
  readonly log: Logger;
  readonly http: HttpLog;
}

/**
 * The log on standard error. Lines are written in batches: after a quarter of a second, or soon after the batch before is
 * out, and at the end.
 * They are gathered here: pino's own stream measures its whole batch anew with every line. What it is given stays below
 * its `minLength`, so that at the end of the process nothing is under way but what was begun before. The line of a request
 * is put together with its batch: in the middle of a request it costs a tenth of a small answer's time.
 */
export function createLog(settings: LogSettings): ServiceLog {
  const sink = pino.destination({ dest: 2, sync: false, minLength: 16_000, periodicFlush: 250 });
  const batch = new LineBatch<DueLine>(sink, { characters: 14_000, waitMs: 250, lineOf, mask: createMask(settings) });
  const log = pino({ level: settings.log.level, base: null }, batch);
  const request = (line: RequestLine): void => {
    const due = { time: Date.now(), line };
    // Of any length, so that it must be counted at once.
    if (line.query === undefined) batch.add(due);
    else batch.write(lineOf(due));
  };
  const http = { error: log.error.bind(log), ...(log.isLevelEnabled("info") && { request }) };
  return { log, http };
}
