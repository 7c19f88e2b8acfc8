import type { Manifest } from "./manifest.ts";

/** Warehouses that statements are written for. */
export const sqlDialects = ["duckdb", "spark"] as const;
export type SqlDialect = (typeof sqlDialects)[number];

interface Dialect {
  readonly text: (value: string) => string;
  /** The n-th part of a line between spaces. */
  readonly part: (number: number) => string;
  /** `hashOf` an IRI. */
  readonly hash: (iri: string) => string;
  readonly table: (name: string) => string;
  /** Statements that come first. */
  readonly prelude: readonly string[];
  readonly read: (path: string) => string;
  readonly write: (select: string, file: string) => string;
}

const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const escaped = (value: string): string =>
  `'${value.replaceAll("\\", String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
const rawLines = String.raw`delim = E'\x01', quote = '', escape = '', header = false`;

const dialects: Readonly<Record<SqlDialect, Dialect>> = {
  duckdb: {
    text: quoted,
    part: (number) => `split_part(line, ' ', ${number})`,
    hash: (iri) => `subject_hash(${iri})`,
    table: (name) => `CREATE TEMP TABLE ${name} AS`,
    prelude: ["CREATE MACRO subject_hash(iri) AS CAST('0x' || substr(md5(iri), 1, 8) AS UBIGINT)"],
    read: (path) =>
      `SELECT line FROM read_csv(${quoted(path)}, columns = {'line': 'VARCHAR'}, auto_detect = false, ${rawLines})`,
    write: (select, file) =>
      String.raw`COPY (${select}) TO ${quoted(file)} (FORMAT csv, HEADER false, DELIMITER E'\x01', QUOTE '', ESCAPE '')`,
  },
  spark: {
    text: escaped,
    part: (number) => `split_part(line, ' ', ${number})`,
    hash: (iri) => `CAST(conv(substr(md5(${iri}), 1, 8), 16, 10) AS BIGINT)`,
    table: (name) => `CREATE OR REPLACE TEMPORARY VIEW ${name} AS`,
    prelude: [],
    read: (path) => `SELECT value AS line FROM text.\`${path}\``,
    // A folder of files, to be put together in the order of their names.
    write: (select, file) => `INSERT OVERWRITE DIRECTORY ${escaped(file)} USING text ${select}`,
  },
};

const rdfType = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";

/**
 * Statements by which a warehouse writes the shards of a finished build from its inputs, and what the build claims of them:
 * the same lines in the same order. Inputs have to be canonical N-Triples or N-Quads, as shards are.
 */
export function warehouseSql(manifest: Manifest, dialect: SqlDialect): string {
  const sql = dialects[dialect];
  const statements = [
    ...sql.prelude,
    `${sql.table("lines")}\n${manifest.inputs.map(({ name }) => sql.read(name)).join("\nUNION\n")}`.replace(
      /SELECT/u,
      "SELECT DISTINCT",
    ),
    ...placement(manifest, sql),
    ...manifest.shards.map(({ key, id }) =>
      sql.write(`SELECT line FROM placed WHERE shard = ${sql.text(key)} ORDER BY line`, `${id}.${endingOf(manifest)}`),
    ),
  ];
  return `${[...claims(manifest), ...statements.map((statement) => `${statement};`)].join("\n")}\n`;
}

const endingOf = ({ format }: Manifest): string => (format === "n-quads" ? "nq" : "nt");

/** Claims of the build about its shards, as comments. */
const claims = ({ dataset, fingerprint, triples, gzip, inputs, shards }: Manifest): readonly string[] => [
  `-- Shards of ${dataset}, build ${fingerprint}: ${triples} triples.`,
  "-- Inputs have to be canonical N-Triples or N-Quads, without blank nodes; texts are ordered by their UTF-8 bytes.",
  ...inputs.map(({ name, bytes, sha256 }) => `-- input ${name}: ${bytes} bytes, sha256 ${sha256}`),
  ...shards.map(
    ({ id, key, triples: own, lineBytes, sha256 }) =>
      `-- shard ${id} (${key}): ${own} triples, ${lineBytes} bytes${gzip ? "" : `, sha256 ${sha256}`}`,
  ),
];

/** From lines to the key of each line's shard: the rules of a build as tables and joins. */
function placement({ rules, precedence }: Manifest, sql: Dialect): readonly string[] {
  const horizontal = new Map<string, number>();
  for (const rule of rules) {
    if (rule.kind === "horizontal")
      horizontal.set(rule.class, Math.min(rule.buckets, horizontal.get(rule.class) ?? rule.buckets));
  }
  const classes = rules.flatMap((rule) => (rule.kind === "class" ? rule.classes : []));
  const predicates = rules.flatMap((rule) => (rule.kind === "vertical" ? rule.predicates : []));
  const subject = sql.part(1);
  const list = (iris: Iterable<string>): string => ["", ...iris].map(sql.text).join(", ");
  const first = (iris: Iterable<string>): string => `min(CASE WHEN class IN (${list(iris)}) THEN class END)`;
  const buckets = [...horizontal].map(([iri, count]) => `WHEN ${sql.text(iri)} THEN ${count}`).join(" ");
  const bucket = `${sql.hash(`substr(${subject}, 2, length(${subject}) - 2)`)} % CASE spread ${buckets} END`;
  const keys = {
    horizontal: horizontal.size === 0 ? "NULL" : `'h/' || spread || '/' || CAST(${bucket} AS VARCHAR(10))`,
    class: "'c/' || claimed",
    vertical: `CASE WHEN predicate IN (${list(predicates)}) THEN 'v/' || predicate END`,
  };
  const iriOf = (number: number): string => `substr(${sql.part(number)}, 2, length(${sql.part(number)}) - 2)`;
  return [
    `${sql.table("types")}\nSELECT DISTINCT ${subject} AS subject, ${iriOf(3)} AS class FROM lines\nWHERE ${sql.part(2)} = ${sql.text(rdfType)} AND ${sql.part(3)} LIKE '<%'`,
    `${sql.table("claims")}\nSELECT subject, ${first(horizontal.keys())} AS spread, ${first(classes)} AS claimed FROM types GROUP BY subject`,
    `${sql.table("placed")}\nSELECT line, COALESCE(${precedence.map((kind) => keys[kind]).join(", ")}, 'base') AS shard\nFROM (SELECT line, ${iriOf(2)} AS predicate, spread, claimed FROM lines LEFT JOIN claims ON subject = ${subject}) AS described`,
    "SELECT shard, count(*) AS triples FROM placed GROUP BY shard ORDER BY shard",
  ];
}
