import { Type } from "typebox";
import { strictObject, view } from "../../../src/http/schemas.ts";
import { shardModes } from "../spec.ts";

/** The section of these routes in the documentation. */
export const heading = "Shards";
export const tags = [heading];

/** Path of `/api/shards/{dataset}`. */
export const DatasetPath = Type.Object({
  dataset: Type.String({ minLength: 1, maxLength: 32, description: "Id of a dataset." }),
});

/** Path of a shard of a dataset. */
export const ShardPath = Type.Object({
  ...DatasetPath.properties,
  shard: Type.String({ minLength: 1, maxLength: 64, description: "Id of one of its shards." }),
});

/** Body of `POST /api/shards`; deploy/guide/shard-specs.md lists the other fields of a description. */
export const BuildBody = Type.Union([
  strictObject({ file: Type.String({ minLength: 1, description: "Name of a description below shards-input/." }) }),
  Type.Object({
    dataset: Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,31}$" }),
    inputs: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description: "RDF files below shards-input/." }),
    queries: Type.String({ minLength: 1, description: "A JSON or CSV file, or a folder of .rq files." }),
    licence: Type.String({ description: "IRI of the licence of the source." }),
    title: Type.Optional(Type.String({ minLength: 1 })),
    mode: Type.Optional(Type.Enum([...shardModes])),
    gzip: Type.Optional(Type.Boolean()),
    skipBadLines: Type.Optional(Type.Boolean()),
  }),
]);

/** Parameters of `POST /api/shards`. */
export const BuildParameters = strictObject({
  dryRun: Type.Optional(Type.Boolean({ description: "Choose rules and predict sizes, write nothing." })),
});

/** Parameters of `POST /api/shards/{dataset}/verify`. */
export const VerifyParameters = strictObject({
  answers: Type.Optional(
    Type.Boolean({
      description: "Also compare the answers of all queries over the shards and the whole; default true.",
    }),
  ),
});

const Shard = view("Shard", {
  id: Type.String(),
  key: Type.String({ description: "h/<class>/<bucket>, c/<class>, v/<predicate>, base or base/<bucket>." }),
  triples: Type.Integer(),
  bytes: Type.Integer(),
  sha256: Type.String(),
  endpoint: Type.String({ description: "URL of its SPARQL endpoint." }),
  file: Type.String({ description: "URL of its data." }),
});

const dataset = {
  dataset: Type.String(),
  title: Type.String(),
  triples: Type.Integer(),
  licence: Type.String(),
  citation: Type.Optional(Type.String()),
  source: Type.Optional(Type.String()),
  federation: Type.String({ description: "URL of the endpoint over all shards." }),
};

export const ShardsList = view("ShardsList", {
  shards: Type.Array(Type.Object({ ...dataset, shards: Type.Integer() })),
  next: Type.Optional(Type.String()),
});

export const Dataset = view("Dataset", {
  ...dataset,
  shards: Type.Array(Shard),
  report: Type.Any({ description: "report.json" }),
});
