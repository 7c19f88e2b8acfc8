import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { FedwayError } from "../../errors/fedway-error.ts";
import { packageFile } from "../../package-file.ts";
import { plainHeaders } from "../common-headers.ts";
import { chooseCoding, compressWhole, type ContentCoding, smallestCompressedBytes } from "../compression.ts";
import type { TypedApp } from "../http-deps.ts";
import { openToAll } from "../write-access.ts";

/** A file that pages load, under a name that changes with what is in it. */
interface Asset {
  readonly stem: string;
  readonly extension: keyof typeof contentTypes;
  readonly body: Buffer;
  readonly hash: string;
  /** Compressed when first asked for: it never changes. */
  readonly compressed: Map<ContentCoding, Promise<Buffer>>;
}

const contentTypes = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

function asset(stem: string, extension: Asset["extension"], content: string | Buffer): Asset {
  const body = Buffer.from(content);
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 16);
  return { stem, extension, body, hash, compressed: new Map() };
}

const pathOf = ({ stem, hash, extension }: Asset): string => `/assets/${stem}.${hash}.${extension}`;

const stylesheet = asset("fedway", "css", readFileSync(new URL("./style.css", import.meta.url)));

/** One node that reaches three others. */
export const emblem = `<path d="M8 16L24 6M8 16h16M8 16l16 10" fill="none" stroke="#2f86d0" stroke-width="2.5"/><circle cx="8" cy="16" r="5.5" fill="#2f86d0"/><circle cx="24.5" cy="6" r="3.5" fill="#2f9e69"/><circle cx="25" cy="16" r="3.5" fill="#2f9e69"/><circle cx="24.5" cy="26" r="3.5" fill="#2f9e69"/>`;

const icon = asset("icon", "svg", `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${emblem}</svg>\n`);

/** Paths of what pages load. */
export const assetPaths = { stylesheet: pathOf(stylesheet), icon: pathOf(icon) } as const;

interface Bundle {
  readonly js: Asset;
  readonly css: Asset;
  readonly chunks: ReadonlyMap<string, Asset>;
}
let bundle: Bundle | undefined;
let reference: Asset | undefined;

const consoleFolder = packageFile("dist/console/");

const bundled = (name: string, stem = "console"): Asset =>
  asset(stem, name.endsWith(".css") ? "css" : "js", readFileSync(new URL(name, consoleFolder)));

/** Parts of the console that it loads when they are first used, by the names that the script has for them. */
const chunks = (): ReadonlyMap<string, Asset> =>
  new Map(
    readdirSync(consoleFolder)
      .filter((name) => name.startsWith("chunk-"))
      .map((name) => [name, bundled(name, "chunk")]),
  );

/** Output of `deploy/build-console.mjs`, read when it is first wanted: nothing else needs it. */
const consoleBundle = (): Bundle =>
  (bundle ??= built(() => ({ js: bundled("console.js"), css: bundled("console.css"), chunks: chunks() })));
const referenceScript = (): Asset => (reference ??= built(() => bundled("reference.js", "reference")));

function built<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new FedwayError("NOT_FOUND", "The scripts of the pages have not been built.", {
      cause,
      next: "Build it with npm run build:engine.",
    });
  }
}

/** Paths of what the query console loads. @throws FedwayError `NOT_FOUND` when it has not been built */
export function consoleAssets(): { readonly script: string; readonly stylesheet: string } {
  const { js, css } = consoleBundle();
  return { script: pathOf(js), stylesheet: pathOf(css) };
}

/** Path of the script of `/docs`. @throws FedwayError `NOT_FOUND` when it has not been built */
export const referencePath = (): string => pathOf(referenceScript());

/** Asset of this name, or of the same name with another hash; chunks are whole by their own hash only. */
function assetOf(file: string): { readonly found: Asset; readonly isCurrent: boolean } | undefined {
  if (file.startsWith("chunk-")) {
    const chunk = consoleBundle().chunks.get(file);
    return chunk && { found: chunk, isCurrent: true };
  }
  const [stem, hash, extension] = file.split(".", 3);
  const found = assetsOf(stem).find((each) => each.stem === stem && each.extension === extension);
  return found && { found, isCurrent: found.hash === hash };
}

function assetsOf(stem: string | undefined): readonly Asset[] {
  if (stem === "reference") return [referenceScript()];
  return stem === "console" ? [consoleBundle().js, consoleBundle().css] : [stylesheet, icon];
}

async function bodyIn({ body, compressed }: Asset, coding: ContentCoding): Promise<Buffer> {
  const known = compressed.get(coding) ?? compressWhole(body, coding);
  compressed.set(coding, known);
  return known;
}

/**
 * Serves the assets. One asked for by another hash is what a page of another version wants, while a deployment replaces
 * processes one by one: it gets the one that is here, not to be kept.
 */
export function addAssets(app: TypedApp): void {
  app.get<{ Params: { file: string } }>(
    "/assets/:file",
    { ...openToAll, schema: { hide: true } },
    async (request, reply) => {
      const named = assetOf(request.params.file);
      if (named === undefined) throw new FedwayError("NOT_FOUND", "There is no such file.");
      const { found, isCurrent } = named;
      // Weak: it stands for the compressed bodies, too.
      const etag = `W/"${found.hash}"`;
      void reply.headers({
        ...plainHeaders,
        ETag: etag,
        "Cache-Control": isCurrent ? "public, max-age=31536000, immutable" : "no-cache",
        Vary: "Accept-Encoding",
      });
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      void reply.type(contentTypes[found.extension]);
      const isLarge = found.body.length > smallestCompressedBytes;
      const coding = isLarge ? chooseCoding(request.headers["accept-encoding"]) : undefined;
      if (coding === undefined) return reply.send(found.body);
      return reply.header("Content-Encoding", coding).send(await bodyIn(found, coding));
    },
  );
}
