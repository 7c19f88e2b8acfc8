import { html, link } from "../../../src/html.ts";
import type { TypedApp } from "../../../src/http/http-deps.ts";
import { numberText } from "../../../src/figures.ts";
import { addListPage } from "../../../src/http/pages/list-page.ts";
import type { ShardDataset } from "../finished-folder.ts";
import type { ShardService } from "./routes.ts";

/** `/shards`: the datasets that this service hosts in parts. */
export const addShardsPage = (app: TypedApp, shards: Pick<ShardService, "datasets">): void =>
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
