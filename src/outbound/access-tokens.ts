import { Type } from "typebox";
import { Check } from "typebox/value";
import type { Clock } from "../clock.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { foreignJson } from "../results/json-structure.ts";
import { basicOf, type Credential } from "./credential-file.ts";
import type { JsonClient } from "./json-client.ts";

type OAuth = Extract<Credential, { type: "oauth" }>;

const tokenMs = 10_000;
/** A refused new token is not replaced with every query, nor is one requested again that was unavailable just now. */
const renewEveryMs = 10_000;
const retryEveryMs = 2_000;
const untoldLifetimeS = 300;

const tokenAnswer = Type.Object({
  access_token: Type.String({ pattern: "^[\\x21-\\x7e]{1,8192}$" }),
  token_type: Type.String({ pattern: "^[Bb][Ee][Aa][Rr][Ee][Rr]$" }),
  expires_in: Type.Optional(Type.Number({ minimum: 0 })),
});

/** Access tokens of one endpoint (RFC 6749, section 4.4): one is kept until shortly before its end, and fetched once for all. */
export type AccessTokens = ReturnType<typeof accessTokens>;

/** The access tokens that credentials give. */
export function accessTokens(
  id: string,
  credential: OAuth,
  { post, clock }: { readonly post: JsonClient["post"]; readonly clock: Clock },
) {
  let token: Promise<string> | undefined;
  let text: string | undefined;
  let untilMs = 0;
  let renewedMs = Number.NEGATIVE_INFINITY;
  const fetch = async (): Promise<string> => {
    const startedMs = clock.now();
    try {
      const { access_token: got, expires_in: lifetimeS = untoldLifetimeS } = await askFor(credential, post);
      const lifetimeMs = 1_000 * Math.min(Math.max(1, lifetimeS), 86_400);
      untilMs = startedMs + lifetimeMs - Math.min(30_000, lifetimeMs / 10);
      text = got;
      return got;
    } catch (thrown) {
      untilMs = clock.now() + retryEveryMs;
      throw noToken(id, credential, toFedwayError(thrown));
    }
  };
  return {
    isOf: (other: Credential): boolean => JSON.stringify(other) === JSON.stringify(credential),
    /** @throws FedwayError `ENDPOINT_REFUSED` */
    get(): Promise<string> {
      if (token !== undefined && clock.now() < untilMs) return token;
      untilMs = Number.POSITIVE_INFINITY;
      token = fetch();
      return token;
    },
    /** Gives up a token that was refused; false: that was done a moment ago. */
    renew(refused: string): boolean {
      if (text !== refused) return true;
      const nowMs = clock.now();
      if (nowMs - renewedMs < renewEveryMs) return false;
      [renewedMs, untilMs, text] = [nowMs, nowMs, undefined];
      return true;
    },
  };
}

async function askFor({ tokenUrl, clientId, clientSecret, scope }: OAuth, post: JsonClient["post"]) {
  const body = new URLSearchParams({ grant_type: "client_credentials", ...(scope !== undefined && { scope }) });
  const authorization = `Basic ${basicOf(formEncoded(clientId), formEncoded(clientSecret))}`;
  const { status, text = "" } = await post({
    url: tokenUrl,
    urlBy: "operator",
    headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded", authorization },
    body: body.toString(),
    signal: AbortSignal.timeout(tokenMs),
    timeoutMs: tokenMs,
    maxAnswerBytes: 65_536,
  });
  const answer = foreignJson(text);
  if (status === 200 && Check(tokenAnswer, answer)) return answer;
  // The rest of its text may repeat the request.
  const what = status === 200 ? "no bearer token is in its answer." : `it answered with HTTP status ${status}.`;
  throw new FedwayError("ENDPOINT_REFUSED", what);
}

const formEncoded = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

function noToken(id: string, { tokenUrl }: OAuth, { code, message: why }: FedwayError): FedwayError {
  const isRefused = code === "ADDRESS_REFUSED";
  const what = isRefused ? "its address is not one that Fedway may connect to." : why;
  const message = `No token for "${id}" came from ${URL.parse(tokenUrl)?.host}: ${what}`;
  return new FedwayError("ENDPOINT_REFUSED", message, {
    fault: "http-4xx",
    where: { endpoint: id },
    next: isRefused
      ? `Name the address of its tokenUrl in FEDWAY_ALLOW_ADDRESSES.`
      : `Check tokenUrl, clientId and clientSecret of "${id}" in the file that FEDWAY_CREDENTIALS names.`,
  });
}
