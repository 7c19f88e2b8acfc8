import { createHash, timingSafeEqual } from "node:crypto";
import { BlockList } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import type { HttpDeps, HttpSettings } from "./http-deps.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route changes something: scripts of other origins get no leave to use it. */
    guarded?: boolean;
  }
}

/** Options of every route that changes something, beside the hook of `requireWriteAccess`. */
export const guarded = { config: { guarded: true } } as const;

type OnRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * A hook (`onRequest`, so that no body is read before) that lets changes pass: with the admin token when there is one,
 * else only from programs on this machine. To be used together with `guarded`.
 * @throws FedwayError `WRITE_REFUSED`
 */
export function requireWriteAccess({ config }: Pick<HttpDeps, "config">): OnRequest {
  const { adminToken } = config;
  return async (request, { raw }) => {
    const problem = adminToken === undefined ? localProblem(request, config) : tokenProblem(request, adminToken);
    if (problem === undefined) return;
    // What is left of the body is not read, so the connection cannot be used again.
    raw.setHeader("Connection", "close");
    if (adminToken !== undefined) raw.setHeader("WWW-Authenticate", 'Bearer realm="fedway"');
    throw problem;
  };
}

function tokenProblem({ headers }: FastifyRequest, token: string): FedwayError | undefined {
  const given = /^Bearer +(\S{1,1024}) *$/i.exec(headers.authorization ?? "")?.[1];
  if (given !== undefined && areEqual(given, token)) return undefined;
  const what = given === undefined ? "is missing" : "is not the right one";
  return new FedwayError("WRITE_REFUSED", `The token for changes ${what}.`, {
    next: "Send Authorization: Bearer with the value of FEDWAY_ADMIN_TOKEN.",
  });
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** In the same time for every wrong text; digests have one length. */
const areEqual = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right));

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  const bare = address.replace(/^::ffff:/i, "");
  return loopback.check(bare, bare.includes(":") ? "ipv6" : "ipv4");
}

/** `localhost`, `127.0.0.1`, `[::1]`, as URLs write them. */
function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || isLoopbackAddress(hostname.replace(/^\[(.*)\]$/, "$1"));
}

/** A host and port, and nothing that a URL would take for something else. */
const hostHeader = /^[a-z0-9.:[\]-]{1,260}$/i;

/** Headers by which proxies say for whom they ask. */
const forwarding = /^(?:x-forwarded(?:-.*)?|forwarded|via|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

/**
 * Why a request does not count as one of a program on this machine. Web pages that such a machine shows are no such
 * programs: they give away by Origin, or by a foreign Host when their name was made to point here (DNS rebinding).
 */
function localProblem({ raw, headers }: FastifyRequest, config: HttpSettings): FedwayError | undefined {
  const own = hostHeader.test(headers.host ?? "") ? URL.parse(`http://${headers.host}/`) : null;
  const refused = new Map<string, boolean>([
    ["Changes are taken from this machine only.", !isLoopbackAddress(raw.socket.remoteAddress)],
    ["The Host header does not name this machine.", own === null || !isLoopbackHost(own.hostname)],
    ["The request comes from another site.", headers.origin !== undefined && headers.origin !== own?.origin],
    ["The request came through a proxy.", hasProxy(raw, config)],
    ["This service is reached under a public URL.", !isLoopbackHost(URL.parse(config.publicUrl)?.hostname ?? "")],
  ]);
  const [reason] = [...refused].find(([, holds]) => holds) ?? [];
  if (reason === undefined) return undefined;
  return new FedwayError("WRITE_REFUSED", reason, {
    next: "Set FEDWAY_ADMIN_TOKEN at the service and send it as Authorization: Bearer.",
  });
}

/** Proxies that name nobody speak HTTP/1.0 unless told otherwise, and nobody else does. */
function hasProxy({ headers, httpVersion }: FastifyRequest["raw"], { trustProxy }: HttpSettings): boolean {
  if (httpVersion === "1.0" || trustProxy !== false) return true;
  return Object.keys(headers).some((name) => forwarding.test(name));
}
