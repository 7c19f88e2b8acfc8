import { FedwayError } from "../errors/fedway-error.ts";
import type { AddressGuard } from "./address-guard.ts";
import { headerOf } from "./media-types.ts";
import type { Refusal } from "./refusals.ts";
import type { LocalDispatch } from "./local-answer.ts";
import type { RequestMethod } from "./sparql-request.ts";

/** Redirects that are followed within one query. */
export const maxRedirects = 3;

/** Where a redirect leads and how the query is sent there. */
export interface RedirectStep {
  readonly url: URL;
  readonly method: RequestMethod;
}

/** Rules for redirects. */
interface RedirectRules {
  readonly guard: AddressGuard;
  readonly local?: LocalDispatch | undefined;
}

const followed = new Set([301, 302, 303, 307, 308]);

/** A response that asks to go elsewhere. */
export const isRedirect = ({ status, headers }: Refusal): boolean =>
  followed.has(status) && headers["location"] !== undefined;

/** The error of a redirect that is not followed. */
export function redirectRefused(message: string, status: number): FedwayError {
  return new FedwayError("ENDPOINT_REDIRECT", message, {
    fault: "http-3xx",
    upstreamStatus: status,
    next: "Use the URL that the endpoint really answers at.",
  });
}

/**
 * The next step of a redirect (RFC 9110, section 15.4): 307 and 308 keep the method, the others turn POST into GET.
 * @throws FedwayError `ENDPOINT_REDIRECT` (from https to http, into this process), `ADDRESS_REFUSED`
 */
export function redirectStep(from: RedirectStep, refusal: Refusal, rules: RedirectRules): RedirectStep {
  const { status } = refusal;
  const location = headerOf(refusal.headers, "location") ?? "";
  const url = location.length > 8192 ? null : URL.parse(location, from.url.href);
  if (url === null) throw redirectRefused("The endpoint redirects to something that is not a URL.", status);
  if (from.url.protocol === "https:" && url.protocol === "http:") {
    throw redirectRefused("The endpoint redirects from https to http.", status);
  }
  const refused = rules.guard.refuseUrl(url);
  if (refused !== undefined) throw refused;
  if (rules.local?.(url.href) !== undefined) {
    throw redirectRefused("The endpoint redirects back to this service.", status);
  }
  url.hash = "";
  return { url, method: status === 307 || status === 308 ? from.method : "get" };
}
