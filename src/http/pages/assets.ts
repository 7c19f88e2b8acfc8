import { createHash } from "node:crypto";
import { FedwayError } from "../../errors/fedway-error.ts";
import { baseStyle, partsStyle } from "./style.ts";
import { plainHeaders } from "../common-headers.ts";
import type { TypedApp } from "../http-deps.ts";

/** A file that pages load, under a name that changes with what is in it. */
interface Asset {
  readonly stem: string;
  readonly extension: string;
  readonly contentType: string;
  readonly text: string;
  readonly hash: string;
}

function asset(stem: string, extension: string, { contentType, text }: Pick<Asset, "contentType" | "text">): Asset {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { stem, extension, contentType, text, hash };
}

const pathOf = ({ stem, hash, extension }: Asset): string => `/assets/${stem}.${hash}.${extension}`;

const stylesheet = asset("fedway", "css", {
  contentType: "text/css; charset=utf-8",
  text: `${baseStyle.trim()}\n${partsStyle.trim()}\n`,
});

/** One node that reaches three others. */
export const emblem = `<path d="M8 16L24 6M8 16h16M8 16l16 10" fill="none" stroke="#2f86d0" stroke-width="2.5"/><circle cx="8" cy="16" r="5.5" fill="#2f86d0"/><circle cx="24.5" cy="6" r="3.5" fill="#2f9e69"/><circle cx="25" cy="16" r="3.5" fill="#2f9e69"/><circle cx="24.5" cy="26" r="3.5" fill="#2f9e69"/>`;

const icon = asset("icon", "svg", {
  contentType: "image/svg+xml",
  text: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${emblem}</svg>\n`,
});

/** Paths of what pages load. */
export const assetPaths = { stylesheet: pathOf(stylesheet), icon: pathOf(icon) } as const;

const named = /^([a-z]+)\.([0-9a-f]{16})\.([a-z]+)$/;

/**
 * Serves the assets. One asked for by another hash is what a page of another version wants, while a deployment replaces
 * processes one by one: it gets the one that is here, not to be kept.
 */
export function addAssets(app: TypedApp): void {
  app.get<{ Params: { file: string } }>("/assets/:file", { schema: { hide: true } }, (request, reply) => {
    const [, stem, hash, extension] = named.exec(request.params.file) ?? [];
    const found = [stylesheet, icon].find((each) => each.stem === stem && each.extension === extension);
    if (found === undefined) throw new FedwayError("NOT_FOUND", "There is no such file.");
    const etag = `"${found.hash}"`;
    void reply.headers({
      ...plainHeaders,
      ETag: etag,
      "Cache-Control": hash === found.hash ? "public, max-age=31536000, immutable" : "no-cache",
    });
    if (request.headers["if-none-match"] === etag) return reply.code(304).send();
    return reply.type(found.contentType).send(found.text);
  });
}
