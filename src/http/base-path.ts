import { FedwayError } from "../errors/fedway-error.ts";
import type { HttpDeps, TypedApp } from "./http-deps.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Path of the public URL, such as `/fedway`; empty where the service has an origin to itself. */
    readonly basePath: string;
  }
}

/** Path of a public URL, without a slash at its end. */
export const basePathOf = (publicUrl: string): string =>
  (URL.parse(publicUrl)?.pathname ?? "").replace(/(?<!\/)\/+$/, "");

const isBelow = (path: string, base: string): boolean =>
  path.startsWith(base) && /^(?:[/?#]|$)/.test(path.slice(base.length));

/** `/.well-known/NAME`, behind which clients put the base path (RFC 9728, section 3.1), and the rest. */
const wellKnown = /^(\/\.well-known\/[^/?]+)?(.*)/s;

/** The target of a request as it is routed: proxies may strip the base path or pass it on. */
export function withoutBase(target: string, base: string): string {
  const [, name = "", path = ""] = wellKnown.exec(target) ?? [];
  if (!isBelow(path, base)) return target;
  return `${name}${path.slice(base.length).replace(/^(?!\/)/, "/")}`;
}

/** A path of this service as clients see it; other texts, and paths that have the base already, stay. */
const withBase = (path: string, base: string): string =>
  /^\/(?![/\\])/.test(path) && !isBelow(path, base) ? `${base}${path}` : path;

/** Links in a page to paths of this service. Foreign text cannot look like one: its quotes are entities. */
const links = /(?<= (?:href|src|action|formaction)=")\/[^"]*/g;

/** A page whose links to paths of this service go below the base path. */
export const pageBelow = (page: string, base: string): string =>
  base === "" ? page : page.replaceAll(links, (path) => withBase(path, base));

/** Routes and the base path must not look alike: with a proxy that strips it, a route could pass for the base path. */
function refuseAlike(route: string, base: string): void {
  if (firstPart(route) !== firstPart(base)) return;
  throw new FedwayError(
    "CONFIG_INVALID",
    `The path of FEDWAY_PUBLIC_URL begins with /${firstPart(base)}, as a route of the service does.`,
    {
      next: "Choose a path with another first part, such as /fedway.",
    },
  );
}

const firstPart = (path: string): string | undefined => path.split("/")[1];

/**
 * Makes the service work below the path of its public URL. Routes, pages and `Location` headers name paths of the service
 * (`/status`); the base path is put before them where they leave (here and in `sendPage`) and taken off where requests come in.
 */
export function addBasePath(app: TypedApp, { config }: HttpDeps): void {
  const base = basePathOf(config.publicUrl);
  app.decorate("basePath", base);
  if (base === "") return;
  app.addHook("onRoute", ({ url }) => refuseAlike(url, base));
  app.addHook("onSend", async (_request, reply) => {
    const location = reply.getHeader("location");
    if (typeof location === "string") void reply.header("location", withBase(location, base));
  });
}
