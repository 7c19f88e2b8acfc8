import { LRUCache } from "lru-cache";
import { FedwayError, type Problem, type Statement, toProblem } from "../../errors/fedway-error.ts";
import type { Planner, PlanRequest } from "../../plan/create-planner.ts";
import type { QueryPlan } from "../../plan/query-plan.ts";
import type { Admission, Admitted } from "../../query/admission.ts";
import type { Probe } from "../../query/probe.ts";
import type { Catalog } from "../../registry/catalog.ts";
import type { Query } from "../../sparql/query.ts";
import type { QueryCheck } from "../check/query-check.ts";
import { statedText } from "../evidence.ts";
import { endpointOf, type Finding, type Inquiry, type QueryHome, solvedBy, whereOf } from "./inquiry.ts";
import { Prober, type ProbeBudget } from "./prober.ts";
import { headOf, partsOf, type QueryPart } from "./query-parts.ts";
import { findingOf } from "./search-cause.ts";
import { shareWork } from "./share-work.ts";
import { none, statementsOf } from "./statements.ts";

/** A query whose answer was empty. */
export interface EmptyQuery {
  readonly query: string;
  /** Catalogue id of the endpoint, or federation, that it was sent to. */
  readonly endpoint?: string | undefined;
  readonly federation?: string | undefined;
}

/** For whom a diagnosis is made. What it costs is bounded by its questions and requests; time is only the guard. */
export interface DiagnosisBudget {
  readonly signal: AbortSignal;
  /** Milliseconds that are left of the request; absent: a minute. */
  readonly timeoutMs?: number | undefined;
  /** Owner of the query. */
  readonly owner?: string | undefined;
  /** The call that the diagnosis is part of; absent: it is one of its own. */
  readonly admitted?: Admitted | undefined;
  /** It may not ask endpoints that need the operator's credentials. Default false. */
  readonly withoutCredentials?: boolean | undefined;
}

/** Reason for an empty answer, and the cost of finding it. */
export interface EmptyDiagnosis {
  /** Null: the query has solutions, so that nothing is to be explained. */
  readonly problem: Problem | null;
  /** Questions asked. */
  readonly questions: number;
  /** Requests that endpoints had for them. */
  readonly requests: number;
  readonly durationMs: number;
  /** False: the questions, the requests or the time were used up before all was asked. */
  readonly complete: boolean;
}

interface ExplainerOptions {
  readonly run: Probe;
  readonly planner: Planner;
  readonly catalog: Pick<Catalog, "byId" | "byUrl" | "entries" | "federation" | "federationByUrl" | "membersOf">;
  /** Descriptions; absent: nothing is known. */
  readonly terms?: Inquiry["terms"];
  /** Check of a query without asking endpoints; absent: nothing is known. */
  readonly check?: QueryCheck["check"] | undefined;
  /** Milliseconds since the epoch, with fractions. */
  readonly now: () => number;
  readonly admission: Pick<Admission, "enter">;
  /** Questions of one diagnosis, each a query of the kind that clients send; 20 when absent. */
  readonly maxQuestions?: number | undefined;
  /** Requests to endpoints for all of them. */
  readonly maxRequests: number;
}

/** Finds out why answers are empty. */
export type Explainer = ReturnType<typeof createExplainer>;

const keptMs = 120_000;
/** Of diagnoses and the queries that they are of. */
const keptBytes = 16 * 1024 * 1024;
const guardMs = 60_000;

/** An explainer that asks by `run`. */
export function createExplainer(options: ExplainerOptions) {
  const { admission, maxQuestions = 20 } = options;
  const known = new LRUCache<string, { readonly diagnosis: EmptyDiagnosis; readonly at: number }>({
    maxSize: keptBytes,
    sizeCalculation: ({ diagnosis }, key) => 2 * (key.length + JSON.stringify(diagnosis).length) + 250,
    ttl: keptMs,
  });
  const shared = shareWork<EmptyDiagnosis>();
  return {
    /**
     * Why a query has no solutions. Who asks the same at the same time shares the work, and for two minutes its result,
     * unless that is undecided or was ended by the time.
     * @throws FedwayError `SERVICE_BUSY` when too much is under way, `CANCELLED`, and what the planner throws
     */
    async explain(asked: EmptyQuery, budget: DiagnosisBudget): Promise<EmptyDiagnosis> {
      const { timeoutMs = guardMs, owner, withoutCredentials = false } = budget;
      // What is found with credentials is not shown to who may not use them.
      const key = JSON.stringify([asked.query, asked.endpoint, asked.federation, withoutCredentials]);
      const before = known.get(key);
      if (before) return aged(before.diagnosis, options.now() - before.at);
      return shared.join(key, budget.signal, async (signal) => {
        const { length: characters } = asked.query;
        const entrant = { client: owner, what: "diagnosis", characters, timeoutMs, signal, withoutCredentials };
        const admitted = budget.admitted ?? (await admission.enter(entrant));
        const requests = admitted.requests.part(options.maxRequests);
        try {
          const { isFinal, ...diagnosis } = await diagnose(options, asked, {
            maxQuestions,
            timeoutMs,
            signal: budget.admitted ? signal : admitted.signal,
            owner,
            requests,
          });
          if (isFinal) known.set(key, { diagnosis, at: options.now() });
          return diagnosis;
        } finally {
          if (budget.admitted === undefined) admitted.leave();
        }
      });
    },
  };
}

/** Marks evidence from an earlier answer as not asked now. */
function aged(diagnosis: EmptyDiagnosis, ms: number): EmptyDiagnosis {
  const { problem } = diagnosis;
  if (!problem?.statements) return diagnosis;
  const said = problem.statements.filter(({ claim }) => claim !== repairClaim);
  return { ...diagnosis, problem: { ...problem, detail: statedText(said, ms) } };
}

/** Final: who asks again within two minutes would find nothing else. */
type Diagnosed = EmptyDiagnosis & { readonly isFinal: boolean };

async function diagnose(options: ExplainerOptions, asked: EmptyQuery, budget: ProbeBudget): Promise<Diagnosed> {
  const startedAt = options.now();
  const opened = openInquiry(options, asked, budget);
  const end = (problem: Problem | null, prober?: Prober): Diagnosed => ({
    problem,
    questions: prober?.asked ?? 0,
    requests: prober?.requests ?? 0,
    durationMs: Math.round(options.now() - startedAt),
    complete: prober?.spent === undefined,
    isFinal: prober?.spent !== "time" && problem?.code !== "EMPTY_UNDECIDED",
  });
  if (opened instanceof FedwayError) return end(toProblem(opened));
  const { signal } = budget;
  const declared = { ...asked, query: opened.written, owner: "" };
  const known = { ...opened.known, ...(await options.check?.(declared, { signal })) };
  const inquiry = { ...opened, known };
  const finding = await findingOf(inquiry);
  return end(finding === null ? null : problemOf(inquiry, finding), inquiry.prober);
}

function problemOf(inquiry: Inquiry, finding: Finding): Problem {
  const { code, remark, part, endpoint, endpoints, repairs = [], suggestions = [], next } = finding;
  const said = statementsFor(inquiry, finding);
  const statements = [...said, ...repairStatements(inquiry, finding, said)];
  const stated = [...(said.length > 0 ? [statedText(said)] : []), ...(remark ? [remark] : [])];
  const isDescribed = said.some(({ evidence }) => evidence.some(({ by }) => by === "description"));
  // With a repair, what the descriptions say is not there need not be asked.
  const all =
    isDescribed && repairs.length === 0 ? "With prune=false the endpoints are asked all the same." : undefined;
  const found = new FedwayError(code, stated.join(" "), {
    ...(part && { where: whereOf(inquiry, part, endpoint) }),
    next: all ?? next,
    ...(statements.length > 0 && { statements }),
    endpoints,
    ...(repairs.length > 0 && { repairs }),
    ...(suggestions.length > 0 && { suggestions }),
  });
  return toProblem(inquiry.relocated(found));
}

/** The claims of a finding that hold; in place of its first one, where that does not, that the query has no solutions. */
function statementsFor({ prober, all }: Inquiry, { claims }: Finding): readonly Statement[] {
  const [first] = claims;
  const held = statementsOf(prober, claims);
  if (first === undefined || held[0]?.claim === first.text) return held;
  return [...statementsOf(prober, [{ text: "The query has no solutions", grounds: [none(all)] }]), ...held];
}

/** Statement of `next` about the first repair, where the text of the finding does not make it. */
function repairStatements(inquiry: Inquiry, { edits = [], repairs = [] }: Finding, said: readonly Statement[]) {
  const claims = repairs.length === 0 ? [] : [{ text: repairClaim, grounds: solvedBy(inquiry, edits) }];
  const queries = new Set(said.flatMap(({ evidence }) => evidence.map(({ query }) => query)));
  return statementsOf(inquiry.prober, claims).filter(({ evidence }) =>
    evidence.some(({ query }) => !queries.has(query)),
  );
}

const repairClaim = "the query then has solutions";

/** Versions of the descriptions by which endpoints of a query may not be asked. */
function describedAt(
  terms: Inquiry["terms"],
  { catalog, home }: QueryHome,
  { parts, ids }: { readonly parts: readonly QueryPart[]; readonly ids: readonly string[] },
): readonly string[] {
  const services = parts.flatMap((part) => endpointOf({ catalog, home }, part) ?? []);
  const asked = new Set([...(home === undefined ? ids : []), ...services]);
  return [...asked].flatMap((id) => terms?.descriptionVersion(id) ?? []);
}

/** The query as it is planned, with its parts; undecided when it is none whose parts can be asked. */
function readParts({ planner }: ExplainerOptions, { query: text, endpoint, federation }: EmptyQuery) {
  const place = { endpointId: endpoint, federationId: federation };
  const wanted = { text, ...place, strict: false, defaultGraphs: [], namedGraphs: [] };
  const { plan } = planner.plan(wanted);
  if (plan.kind === "rejected") return new FedwayError(plan.reason.code, plan.reason.message, plan.reason.details);
  const read = readIfLegal(wanted, planner);
  if (read === undefined || read.parsed.form === "DESCRIBE" || read.parsed.outline.shortConstruct) return cannotAsk();
  const parts = partsOf(read.parsed);
  return parts.length === 0 || parts.length > mostParts ? cannotAsk() : { plan, read, parts };
}

/** Undecided as `readParts`. */
function openInquiry(options: ExplainerOptions, request: EmptyQuery, budget: ProbeBudget): Inquiry | FedwayError {
  const { catalog, terms, run, now } = options;
  const { query: written, endpoint, federation } = request;
  const opened = readParts(options, request);
  if (opened instanceof FedwayError) return opened;
  const { plan, parts } = opened;
  const { parsed: query, source, filled } = opened.read;
  const isFromPlace = endpoint === undefined && namesPlace(query, catalog);
  const target = isFromPlace ? { federationId: federation } : targetOf(plan, request);
  const members = federation === undefined ? undefined : catalog.federation(federation);
  const ids = members ? catalog.membersOf(members).map(({ id }) => id) : [];
  const home = target.endpointId ?? (plan.kind === "direct" ? plan.endpoint.url : undefined);
  const at = describedAt(terms, { catalog, home }, { parts, ids });
  const prober = new Prober({ run, now, head: headOf(query), target, describedAt: at }, budget);
  const relocated = (error: FedwayError): unknown => source.relocated(error);
  const known = { offers: [], unknown: [], contradictions: [] };
  return {
    query,
    written: (filled?.declarations ?? []).map((line) => `${line}\n`).join("") + written,
    relocated,
    parts,
    all: parts,
    prober,
    target,
    catalog,
    terms,
    known,
    home,
    members: home === undefined ? ids : [],
  };
}

const mostParts = 60;

/** The query as it is planned; undefined for a text that only its endpoint understands. */
function readIfLegal(request: PlanRequest, planner: Planner): ReturnType<Planner["read"]> | undefined {
  try {
    return planner.read(request);
  } catch (error) {
    if (error instanceof FedwayError && error.code !== "INTERNAL") return undefined;
    throw error;
  }
}

/** A FROM of the query names the endpoint or federation that it is for, and goes along with each of its pieces. */
const namesPlace = ({ datasets }: Query, catalog: ExplainerOptions["catalog"]): boolean =>
  datasets.some(({ iri, named }) => !named && (catalog.federationByUrl(iri) ?? catalog.byUrl(iri)) !== undefined);

/** A query for one endpoint is asked there in pieces too, also those of its pieces that name none. */
function targetOf(plan: QueryPlan, { endpoint, federation }: EmptyQuery) {
  const only = plan.kind === "direct" ? plan.endpoint.id : undefined;
  if (endpoint !== undefined || only !== undefined) return { endpointId: endpoint ?? only };
  return { federationId: federation };
}

const cannotAsk = (): FedwayError =>
  new FedwayError(
    "EMPTY_UNDECIDED",
    "A query of this kind cannot be asked in parts, so nothing is known of its empty answer.",
    {
      next: "Ask its patterns by a SELECT query.",
    },
  );
