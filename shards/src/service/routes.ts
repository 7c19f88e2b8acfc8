import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { ShardDataset } from "../finished-folder.ts";
import { Paging } from "../../../src/http/catalog-schemas.ts";
import { anyOriginHeaders, plainHeaders, sendJson } from "../../../src/http/common-headers.ts";
import type { HttpShell, PluginRoutes, TypedApp } from "../../../src/http/http-deps.ts";
import { sendAccepted } from "../../../src/http/job-view.ts";
import { pageAt } from "../../../src/http/paging.ts";
import { accepted } from "../../../src/http/registry-schemas.ts";
import { answersAs } from "../../../src/http/schemas.ts";
import { resource } from "../../../src/http/resource.ts";
import { requestValidator } from "../../../src/http/request-validator.ts";
import { addHostedRoute } from "../../../src/http/hosted-routes.ts";
import { pathPart } from "../../../src/http/sparql-routes.ts";
import type { HostedEndpoint } from "../../../src/hosting/hosted-endpoint.ts";
import type { createShardService } from "./shard-service.ts";
import { addPackageFiles, PackageParameters } from "./package-routes.ts";
import {
  BuildBody,
  BuildParameters,
  Dataset,
  DatasetPath,
  ShardPath,
  heading,
  ShardsList,
  tags,
  VerifyParameters,
} from "./schemas.ts";
import { guarded } from "../../../src/http/write-access.ts";
import type { Static } from "typebox";
import { html, link } from "../../../src/html.ts";
import { numberText } from "../../../src/figures.ts";
import { addListPage } from "../../../src/http/pages/list-page.ts";

/** Shards: hosted ones, and building more. */
export type ShardService = ReturnType<typeof createShardService<HostedEndpoint>>["service"];

/** Shards of datasets: what there is, their data and reports, their endpoints, and having more of them built. */
export const shardRoutes = (shards: ShardService): PluginRoutes => ({
  tag: { name: "Shards", description: "Datasets that this service hosts in parts." },
  page: { path: "/shards", text: "Shard families hosted here" },
  addRoutes(app, shell) {
    addShardsPage(app, shards);
    addReading(app, { ...shell, shards });
    addRuleFile(app, { ...shell, shards });
    addDownload(app, shards);
    addBuilding(app, shards);
    addPackageFiles(app, shards);
  },
  addSparqlRoutes: (scope, shell) =>
    addHostedRoute(scope, shell, {
      url: "/shards/:dataset/:shard/sparql",
      operationId: "queryShard",
      params: ShardPath,
      summary: "Query a shard that this service hosts",
      endpointOf(request) {
        const [dataset, shard] = [pathPart(request, "dataset"), pathPart(request, "shard")];
        const endpoint = shards.endpoint(dataset, shard);
        if (endpoint) return endpoint;
        throw shardUnknown(dataset, shard);
      },
    }),
});

/** The page has its own style inside, which its own policy names by hash; this one is about everything else. */
const reportHeaders = {
  ...plainHeaders,
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};

interface Shell extends HttpShell {
  readonly shards: ShardService;
}

function known({ shards }: Shell, id: string): ShardDataset {
  const dataset = shards.dataset(id);
  if (dataset === undefined) throw shardUnknown(id);
  return dataset;
}

function summaryOf({ dataset, title, triples, licence, citation, source }: ShardDataset, { publicUrl }: Shell) {
  const federation = `${publicUrl()}/federations/${dataset}/sparql`;
  return { dataset, title, triples, licence, citation, source, federation };
}

const listed = (dataset: ShardDataset, shell: Shell) => ({
  ...summaryOf(dataset, shell),
  shards: dataset.shards.length,
});

async function whole(dataset: ShardDataset, shell: Shell): Promise<object> {
  const report = await shell.shards.report(dataset.dataset);
  return { ...summaryOf(dataset, shell), shards: shardsOf(dataset, shell), report };
}

function shardsOf({ dataset, shards }: ShardDataset, { publicUrl }: Shell) {
  return shards.map(({ id, key, triples, bytes, sha256 }) => ({
    id,
    key,
    triples,
    bytes,
    sha256,
    endpoint: `${publicUrl()}/shards/${dataset}/${id}/sparql`,
    file: `${publicUrl()}/api/shards/${dataset}/${id}`,
  }));
}

function addReading(app: TypedApp, shell: Shell): void {
  const { shards } = shell;
  const routes = resource(app, "shards", {
    heading,
    params: DatasetPath,
    view: Dataset,
    filter: Paging,
    list: ShardsList,
    show: (dataset: ShardDataset, _request, isListed) => (isListed ? listed(dataset, shell) : whole(dataset, shell)),
    send: sendJson,
  });
  routes.list("List the datasets that are hosted as shards", async ({ query: { limit = 100, cursor } }) =>
    pageAt(shards.datasets, { limit, cursor }),
  );
  routes.get("Get a dataset: its shards and the report", async (id) => known(shell, id));
  routes.job(
    ["verify"],
    "Have the shards of a dataset verified: files, no triple twice, union equal to the inputs, same answers",
    (id, { query: { answers = true } }) => shards.verify(id, { answers }),
    VerifyParameters,
  );
  routes.job(
    ["package"],
    "Have a benchmark made of a dataset's shards: gold queries and answers, endpoints, exports",
    (id, { query }) => shards.package(id, query),
    PackageParameters,
  );
  app.get("/api/shards/:dataset/report", {
    schema: {
      tags,
      operationId: "showShardReport",
      summary: "Read the report of a dataset as a page",
      params: DatasetPath,
      response: answersAs(["text/html"]),
    },
    handler: async (request, reply) => {
      const { dataset } = known(shell, request.params.dataset);
      return reply
        .headers(reportHeaders)
        .type("text/html; charset=utf-8")
        .send(await shards.reportPage(dataset));
    },
  });
}

function addRuleFile(app: TypedApp, shell: Shell): void {
  app.get("/api/shards/:dataset/rules.lp", {
    schema: {
      tags,
      operationId: "downloadShardRules",
      summary: "Download the candidate rules, the queries and the chosen rules, for clingo to check",
      params: DatasetPath,
      response: answersAs(["text/plain"]),
    },
    handler: async (request, reply) => {
      const { dataset } = known(shell, request.params.dataset);
      const { path, bytes } = await shell.shards.ruleFile(dataset);
      return reply
        .headers({ ...anyOriginHeaders, "Content-Length": bytes, "Cache-Control": "no-cache" })
        .type("text/plain; charset=utf-8")
        .send(createReadStream(path, { end: Math.max(0, bytes - 1) }));
    },
  });
}

/** Opens the file before any header is sent, so that a missing one can be reported. */
async function opened(path: string, { dataset, shard }: Static<typeof ShardPath>): Promise<FileHandle> {
  return open(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "ENOENT") throw cause;
    throw new FedwayError("SHARDS_UNKNOWN", `The data of the shard "${shard}" of "${dataset}" is gone.`, {
      next: "GET /api/shards lists what there is.",
      cause,
    });
  });
}

function addDownload(app: TypedApp, shards: ShardService): void {
  app.get("/api/shards/:dataset/:shard", {
    schema: {
      tags,
      operationId: "downloadShard",
      summary: "Download the data of one shard",
      params: ShardPath,
      response: answersAs(["application/n-triples", "application/n-quads", "application/gzip"]),
    },
    handler: async (request, reply) => {
      const { dataset, shard } = request.params;
      const file = shards.download(dataset, shard);
      if (file === undefined) throw shardUnknown(dataset, shard);
      const handle = await opened(file.path, request.params);
      return reply
        .headers({
          ...anyOriginHeaders,
          "Content-Length": file.bytes,
          "Content-Disposition": `attachment; filename="${file.fileName}"`,
          ETag: `"${file.sha256}"`,
          // Exactly as many bytes as were said, also when the file should have grown.
        })
        .type(file.mediaType)
        .send(handle.createReadStream({ end: Math.max(0, file.bytes - 1) }));
    },
  });
}

function addBuilding(app: TypedApp, shards: ShardService): void {
  app.post("/api/shards", {
    ...guarded,
    // The schema documents; the reader of descriptions checks, as it does for files.
    validatorCompiler: ({ schema, ...rest }) =>
      rest.httpPart === "body" ? () => true : requestValidator({ schema, ...rest }),
    schema: {
      tags,
      operationId: "buildShards",
      body: BuildBody,
      summary: "Have shards built: from a description, or {file} naming one below shards-input/ of the data folder",
      querystring: BuildParameters,
      response: accepted,
    },
    handler: async ({ body, query: { dryRun = false } }, reply) =>
      sendAccepted(reply, await shards.build(body, { dryRun })),
  });
}

const shortened = (id: string): string => (id.length > 64 ? `${id.slice(0, 64)}…` : id);

function shardUnknown(dataset: string, shard?: string): FedwayError {
  const what =
    shard === undefined
      ? `no shards of "${shortened(dataset)}"`
      : `no shard "${shortened(shard)}" of "${shortened(dataset)}"`;
  return new FedwayError("SHARDS_UNKNOWN", `This service hosts ${what}.`, {
    next: "GET /api/shards lists what there is.",
  });
}

/** `/shards`: the datasets that this service hosts in parts. */
const addShardsPage = (app: TypedApp, shards: ShardService): void =>
  addListPage<ShardDataset>(app, "/shards", "The datasets that are hosted as shards, as a page to read", async () => ({
    title: "Shard families",
    intro: html`Datasets in parts, each part an endpoint; the federation over a family answers as the whole dataset does.`,
    columns: [
      ["Dataset", ({ dataset, title }) => html`<a href="/federations/${dataset}">${title}</a>`],
      ["#Shards", (each) => numberText(each.shards.length)],
      ["#Triples", ({ triples }) => numberText(triples)],
      ["Licence", ({ licence }) => link(licence, licence)],
      ["Documents", ({ dataset }) => html`<a href="/api/shards/${dataset}/report">Report</a>`],
    ],
    rows: shards.datasets,
    empty: html`No shards are hosted. <code>fedway shards build SPEC</code> makes some of a dataset.`,
  }));
