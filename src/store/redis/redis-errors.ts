import type { FedwayError } from "../../errors/fedway-error.ts";
import { storeFailed } from "../failures.ts";

/** The beginning of what Redis or the client says, and what to tell the reader. */
const failures: readonly (readonly [beginning: RegExp, message: string, next?: string])[] = [
  [/^OOM/, "There is no room left in Redis.", "Give Redis more memory; the service goes on by itself."],
  [
    /^(WRONGPASS|NOAUTH|NOPERM)/,
    "Redis refuses the account of this service.",
    "Check REDIS_URL and the account's rights.",
  ],
  [/^READONLY/, "Redis is a read-only replica.", "Point REDIS_URL at the primary."],
  [/^MISCONF/, "Redis cannot save its data and takes no writes.", "Check the disk of the Redis server."],
  [/^LOADING/, "Redis is still loading its data."],
  [/^Command timed out/, "Redis did not answer in time; a write may have taken effect."],
];

/** An error as a plain one without the command it belongs to: arguments can hold a password. */
function withoutCommand(error: unknown): Error {
  const plain = new Error(error instanceof Error ? error.message.slice(0, 500) : "unknown");
  if (error instanceof Error && "code" in error && typeof error.code === "string") plain.name = error.code;
  return plain;
}

/** Any error of the client as a `STORE_FAILED` without addresses or credentials. */
export function redisFailed(error: unknown, connection?: Error): FedwayError {
  const plain = withoutCommand(error);
  const known = failures.find(([beginning]) => beginning.test(plain.message));
  if (known !== undefined) return storeFailed(known[1], plain, known[2]);
  return storeFailed("The connection to Redis is lost.", connection === undefined ? plain : withoutCommand(connection));
}
