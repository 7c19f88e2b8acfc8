import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpSettings } from "./http-deps.ts";

type WriteHead = ServerResponse["writeHead"];
/** As `writeHead` takes them: an object, or names and values in turn. */
type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];
type Pair = readonly [name: string, value: OutgoingHttpHeader];

function pairsOf(given: Headers): readonly Pair[] {
  if (!Array.isArray(given)) {
    return Object.entries(given).flatMap(([name, value]): Pair[] => (value === undefined ? [] : [[name, value]]));
  }
  const pairs: Pair[] = [];
  for (let at = 0; at < given.length; at += 2) pairs.push([String(given[at]), given[at + 1] ?? ""]);
  return pairs;
}

const isLeave = ([name]: Pair): boolean => name.toLowerCase().startsWith("access-control-");
const isOrigin = ([name]: Pair): boolean => name.toLowerCase() === "access-control-allow-origin";
const isVary = ([name]: Pair): boolean => name.toLowerCase() === "vary";

/** Leave for any origin becomes leave for this one, or none. */
function narrowed(pairs: readonly Pair[], origin: string | undefined): readonly Pair[] {
  if (!pairs.some(isLeave)) return pairs;
  const kept = pairs.filter((pair) => !isVary(pair) && !isOrigin(pair) && (origin !== undefined || !isLeave(pair)));
  const leave: readonly Pair[] = origin === undefined ? [] : [["Access-Control-Allow-Origin", origin]];
  const vary = [...pairs.filter(isVary).map(([, value]) => String(value)), "Origin"].join(", ");
  return [...kept, ...leave, ["Vary", vary]];
}

/**
 * Gives the leave that routes give to any origin to `origins` only. It is done where the head of an answer is written, so
 * that no route can pass it by; where any origin may read, nothing is done.
 */
export function createOriginLimit(
  origins: HttpSettings["corsOrigins"],
): ((request: FastifyRequest, reply: FastifyReply) => void) | undefined {
  if (origins === "*") return undefined;
  return ({ headers }, { raw }) => {
    const origin = origins.find((each) => each === headers.origin);
    const write: WriteHead = raw.writeHead.bind(raw);
    raw.writeHead = (status: number, ...rest: readonly (string | Headers | undefined)[]) => {
      const given = rest.find((each) => typeof each === "object") ?? {};
      return write(status, narrowed(pairsOf(given), origin).flat());
    };
  };
}
