import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, extname, join } from "node:path";
import oxigraph from "oxigraph";

/** The release of RDF4J's test package that the suites are taken from; `fetch-w3c-suite.sh` reads it from here. */
const suiteVersion = "5.1.0";

/** A test that evaluates a query. Files are IRIs below `http://w3c.example/`, the base of whatever they hold. */
export interface QueryCase {
  /** Suite, folder and local name, such as `1.1/bind/bind01`. */
  readonly name: string;
  readonly query: string;
  readonly result: string;
  /** Default graph and named graphs as the manifest has them; the query's FROM wins. */
  readonly data: readonly string[];
  readonly graphData: readonly string[];
  /** Endpoints that the query's SERVICE clauses name. */
  readonly serviceData: readonly ServiceData[];
  /** REDUCED: rows may come less often than expected. */
  readonly lax: boolean;
}

interface ServiceData {
  readonly endpoint: string;
  readonly data: string;
}

/** A test that parses a query. */
export interface SyntaxCase {
  readonly name: string;
  readonly query: string;
  readonly legal: boolean;
}

const places: Readonly<Record<string, string>> = {
  "1.0": "testcases-sparql-1.0-w3c/data-r2",
  "1.1": "testcases-sparql-1.1-w3c",
};
/** Jena's own tests, `testing/ARQ` of a checkout; nothing of it is kept here. */
export const jenaFolder = process.env["FEDWAY_JENA"];
// Entailment regimes are another specification. The folders of updates hold no query.
const leftOut = new Set(["entailment"]);
const base = "http://w3c.example/";
const prefixes = `PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
PREFIX qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX dawgt: <http://www.w3.org/2001/sw/DataAccess/tests/test-dawg#>
`;

/** The text of a file of the suites. */
export function suiteText(iri: string): string {
  const [suite = "", ...path] = iri.slice(base.length).split("/");
  return readFileSync(join(suiteFolder(suite), ...path), "utf8");
}

/** @throws Error when the suites have not been fetched */
function suiteFolder(suite: string): string {
  if (suite === "jena") return jenaFolder ?? "";
  const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const root = join(cache, "fedway", `w3c-sparql-${suiteVersion}`);
  if (existsSync(join(root, "complete"))) return join(root, places[suite] ?? "");
  throw new Error(`The W3C suites are not in ${root}; fetch them with test/support/engines/fetch-w3c-suite.sh.`);
}

function manifestsOf(suite: string): string[] {
  if (suite === "jena") {
    const files = readdirSync(suiteFolder(suite), { recursive: true, encoding: "utf8" });
    return files.filter((path) => /(?:^|\/)manifest[^/]*\.ttl$/u.test(path)).toSorted();
  }
  const folders = readdirSync(suiteFolder(suite)).filter((name) => !leftOut.has(name));
  const manifests = folders.map((name) => join(name, "manifest.ttl"));
  return manifests.filter((path) => existsSync(join(suiteFolder(suite), path))).toSorted();
}

const formats: Readonly<Record<string, string>> = {
  ".ttl": "text/turtle",
  ".rdf": "application/rdf+xml",
  ".nt": "nt",
  ".nq": "application/n-quads",
  ".trig": "application/trig",
};

/** The triples of a file of the suites; blank nodes have labels that no other file has. */
export function suiteTriples(iri: string): readonly oxigraph.Quad[] {
  const format = formats[extname(iri)] ?? "text/turtle";
  const prefix = `b${createHash("sha256").update(iri).digest("hex").slice(0, 12)}x`;
  const renamed = <T extends oxigraph.Term>(term: T): T =>
    (term.termType === "BlankNode" ? oxigraph.blankNode(prefix + term.value) : term) as T;
  return oxigraph
    .parse(suiteText(iri), { format, base_iri: iri })
    .map(({ subject, predicate, object }) => oxigraph.quad(renamed(subject), predicate, renamed(object)));
}

type Row = Readonly<Record<string, string>>;

interface Found {
  readonly name: string;
  readonly row: Row;
  /** Rows of a pattern about the case. */
  readonly about: (pattern: string) => Row[];
}

/** Rows of a query over each manifest, in which `?test` is the case. */
function inManifests(query: string, suites: readonly string[] = Object.keys(places)): readonly Found[] {
  return suites.flatMap((suite) =>
    manifestsOf(suite).flatMap((path) => {
      const store = new oxigraph.Store(suiteTriples(`${base}${suite}/${path}`).map(withNames));
      return rowsOf(store, query).map((row) => ({
        name: `${suite}/${dirname(path)}/${row["test"]?.split("#").pop()}`,
        row,
        about: (pattern) => rowsOf(store, `SELECT * { <${row["test"]}> mf:action ?action . ?action ${pattern} }`),
      }));
    }),
  );
}

/** Some cases are blank nodes, which no second query can name. */
function withNames({ subject, predicate, object }: oxigraph.Quad): oxigraph.Quad {
  const named = <T extends oxigraph.Term>(term: T): T =>
    (term.termType === "BlankNode" ? oxigraph.namedNode(`urn:suite#${term.value}`) : term) as T;
  return oxigraph.quad(named(subject), predicate, named(object));
}

function rowsOf(store: oxigraph.Store, query: string): Row[] {
  const rows = store.query(prefixes + query) as Map<string, oxigraph.Term>[];
  return rows.map((row) => Object.fromEntries([...row].map(([name, term]) => [name, term.value])));
}

/** The query evaluation tests that are not withdrawn: those of the W3C, or of the suites named. */
export function queryCases(suites?: readonly string[]): readonly QueryCase[] {
  const query = `SELECT ?test ?query ?result ?lax {
    [] mf:entries/rdf:rest*/rdf:first ?test . ?test mf:action/qt:query ?query ; mf:result ?result
    FILTER NOT EXISTS { ?test dawgt:approval dawgt:Withdrawn }
    FILTER NOT EXISTS { ?test a <http://jena.hpl.hp.com/2005/05/test-manifest-extra#TestSurpressed> }
    BIND(EXISTS { ?test mf:resultCardinality mf:LaxCardinality } AS ?lax) }`;
  return inManifests(query, suites).map(({ name, row, about }) => ({
    name,
    query: row["query"] ?? "",
    result: row["result"] ?? "",
    lax: row["lax"] === "true",
    data: about("qt:data ?file").map(({ file = "" }) => file),
    graphData: about("qt:graphData ?file").map(({ file = "" }) => file),
    serviceData: about("qt:serviceData ?service . ?service qt:endpoint ?endpoint ; qt:data ?data").map(
      ({ endpoint = "", data = "" }) => ({ endpoint, data }),
    ),
  }));
}

/** The syntax tests of queries that the W3C has not withdrawn. */
export function syntaxCases(): readonly SyntaxCase[] {
  const query = `SELECT ?test ?query ?type {
    [] mf:entries/rdf:rest*/rdf:first ?test . ?test mf:action ?query ; a ?type
    FILTER (STRENDS(STR(?query), ".rq"))
    FILTER (?type IN (mf:PositiveSyntaxTest, mf:PositiveSyntaxTest11, mf:NegativeSyntaxTest, mf:NegativeSyntaxTest11))
    FILTER NOT EXISTS { ?test dawgt:approval dawgt:Withdrawn } }`;
  return inManifests(query).map(({ name, row }) => ({
    name,
    query: row["query"] ?? "",
    legal: row["type"]?.includes("Positive") === true,
  }));
}
