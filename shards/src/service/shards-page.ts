import { html, link } from "../../../src/html.ts";
import type { TypedApp } from "../../../src/http/http-deps.ts";
import { numberText } from "../../../src/figures.ts";
import { listPage } from "../../../src/http/pages/list-page.ts";
import { sendPage } from "../../../src/http/pages/page-reply.ts";
import type { ShardService } from "./routes.ts";

/** `/shards`: the datasets that this service hosts in parts. */
export const addShardsPage = (app: TypedApp, shards: Pick<ShardService, "datasets">): void =>
  void app.get("/shards", {
    schema: { tags: ["Pages"], summary: "The datasets that are hosted as shards, as a page to read" },
    handler: async (request, reply) =>
      sendPage(
        request,
        reply,
        listPage({
          title: "Shard families",
          path: "/shards",
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
        }),
      ),
  });
