import { Type } from "typebox";

const strict = { additionalProperties: false } as const;

/** Path of `/api/shards/{dataset}`. */
export const DatasetPath = Type.Object({
  dataset: Type.String({ minLength: 1, maxLength: 32, description: "Id of a dataset." }),
});

/** Path of `/api/shards/{dataset}/{shard}`. */
export const ShardPath = Type.Object({
  dataset: Type.String({ minLength: 1, maxLength: 32, description: "Id of a dataset." }),
  shard: Type.String({ minLength: 1, maxLength: 64, description: "Id of one of its shards." }),
});

/** Parameters of `POST /api/shards`. */
export const BuildWish = Type.Object(
  { dryRun: Type.Optional(Type.Boolean({ description: "Choose rules and predict sizes, write nothing." })) },
  strict,
);

/** Parameters of `POST /api/shards/{dataset}/verify`. */
export const VerifyWish = Type.Object(
  {
    answers: Type.Optional(
      Type.Boolean({
        description: "Also compare the answers of all queries over the shards and the whole; default true.",
      }),
    ),
  },
  strict,
);

const Shard = Type.Object({
  id: Type.String(),
  key: Type.String({ description: "h/<class>/<bucket>, c/<class>, v/<predicate> or base." }),
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

/** Answer of `GET /api/shards`. */
export const DatasetList = Type.Object({
  datasets: Type.Array(Type.Object({ ...dataset, shards: Type.Integer() })),
});

/** Answer of `GET /api/shards/{dataset}`. */
export const Dataset = Type.Object({
  ...dataset,
  shards: Type.Array(Shard),
  report: Type.Any({ description: "report.json" }),
});
