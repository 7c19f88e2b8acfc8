import { anyOriginHeaders } from "../../../src/http/common-headers.ts";
import type { TypedApp } from "../../../src/http/http-deps.ts";
import { answersAs, strictObject } from "../../../src/http/schemas.ts";
import { Type } from "typebox";
import type { ShardService } from "./routes.ts";
import { DatasetPath, tags } from "./schemas.ts";

/** Reading the files of packages. */
export function addPackageFiles(app: TypedApp, shards: ShardService): void {
  app.get("/api/shards/:dataset/package", {
    schema: {
      tags,
      operationId: "readPackage",
      summary: "Download a file of a dataset's package: the manifest, which lists all files, or one of these",
      params: DatasetPath,
      querystring: FileParameters,
      response: answersAs(["text/turtle", "text/plain", "application/gzip"], Type.Any()),
    },
    handler: async ({ params, query: { file = "manifest.json" } }, reply) => {
      const { handle, bytes } = await shards.packagedFile(params.dataset, file);
      const name = file.slice(file.lastIndexOf("/") + 1).replace(/^\.+/u, "");
      const [ending = ""] = /\.\w+$/u.exec(name) ?? [];
      return reply
        .headers({
          ...anyOriginHeaders,
          "Content-Length": bytes,
          "Content-Disposition": `attachment; filename="${name}"`,
          "Cache-Control": "no-cache",
        })
        .type(mediaTypes[ending] ?? "text/plain; charset=utf-8")
        .send(handle.createReadStream({ end: Math.max(0, bytes - 1) }));
    },
  });
}

const mediaTypes: Readonly<Record<string, string>> = {
  ".gz": "application/gzip",
  ".json": "application/json",
  ".ttl": "text/turtle",
};

const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const label = "[a-z0-9]+(?:-[a-z0-9]+)*";
const host = `(?:${octet}(?:\\.${octet}){3}|(?:${label}\\.)*[a-z]+)`;
const port = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";

/** Parameters of having a package made. */
export const PackageParameters = strictObject({
  baseUrl: Type.Optional(
    Type.String({
      maxLength: 500,
      pattern: `^https?://${host}(?::${port})?(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?$`,
      description: "Where the endpoints will be, such as https://benchmark.example; default: this service.",
    }),
  ),
  timeoutMs: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 600_000, description: "Time limit of each query; default 60000." }),
  ),
});

const FileParameters = strictObject({
  file: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "As the manifest names it." })),
});
