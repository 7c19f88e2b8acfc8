/** Common facts of every error of one code; the message of a single error says what happened this time. */
export interface ErrorKind {
  /** HTTP status of the problem document (RFC 9457). */
  readonly status: number;
  /** Short, stable title of the problem document. */
  readonly title: string;
  /** The same request may succeed later without being changed. */
  readonly retryable: boolean;
  /** `SERVICE SILENT` may replace this failure by one empty solution (SPARQL 1.1 Federated Query, section 2.3). */
  readonly silenceable: boolean;
}

const request = (status: number, title: string): ErrorKind => own(status, title, false);
const upstream = (status: number, title: string, retryable: boolean): ErrorKind => ({
  ...own(status, title, retryable),
  silenceable: true,
});

function own(status: number, title: string, retryable: boolean): ErrorKind {
  return { status, title, retryable, silenceable: false };
}

/** Reason for an empty answer: a finding about a query that was answered, never thrown. */
const finding = (title: string): ErrorKind => own(200, title, false);

/** The closed list of codes. A code never changes its meaning; new failures get new codes. */
export const errorCatalog = {
  QUERY_MISSING: request(400, "No query was sent"),
  QUERY_REPEATED: request(400, "More than one query was sent"),
  QUERY_TOO_LARGE: request(413, "The query is too large"),
  QUERY_ENCODING: request(400, "The query is not UTF-8 text"),
  QUERY_SYNTAX: request(400, "The query is not valid SPARQL 1.1"),
  VERSION_UNSUPPORTED: request(400, "This version of SPARQL is not evaluated here"),
  FUNCTION_UNKNOWN: request(400, "A function is not known here"),
  PATTERN_INVALID: request(400, "A regular expression is not valid"),
  UPDATE_REFUSED: request(400, "Updates are not accepted"),
  SERVICE_REQUIRED: request(400, "The query names no endpoint"),
  PATTERN_OUTSIDE_SERVICE: request(400, "A pattern stands outside every SERVICE"),
  SERVICE_TARGET_REFUSED: request(403, "The SERVICE target is not allowed"),
  SERVICE_NESTED: request(400, "A nested SERVICE cannot be executed"),
  SERVICE_VARIABLE_UNBOUND: request(400, "A SERVICE variable is not bound to known endpoints"),
  SERVICE_SELF: request(400, "The SERVICE target is this service itself"),
  REQUEST_INVALID: request(400, "The request is not valid"),
  REQUEST_TOO_LARGE: request(413, "The request is too large"),
  REQUEST_TIMEOUT: own(408, "The request did not arrive in time", true),
  METHOD_NOT_ALLOWED: request(405, "The method is not allowed here"),
  MEDIA_TYPE_UNSUPPORTED: request(415, "The media type of the request is not supported"),
  NOT_ACCEPTABLE: request(406, "No acceptable result format"),
  NOT_FOUND: request(404, "There is nothing here"),
  ENDPOINT_UNKNOWN: request(404, "The endpoint is not in the catalogue"),
  RUN_UNKNOWN: request(404, "The run is not known"),
  RUN_FINISHED: request(409, "The run is finished already"),
  RUN_FOREIGN: request(403, "The run belongs to another client"),
  RESULT_UNKNOWN: request(404, "The result is not known"),
  RESULT_EXPIRED: request(410, "The result is not kept any more"),
  RESOURCE_UNKNOWN: request(404, "There is no such resource"),
  TOOL_UNKNOWN: request(404, "There is no such tool"),
  SESSION_UNKNOWN: request(404, "The session is not known"),
  DRAFT_UNKNOWN: request(404, "The query under construction is not known"),
  STEP_REFUSED: request(422, "The step would make the query invalid or empty"),
  FEDERATION_UNKNOWN: request(404, "The federation is not in the catalogue"),
  DESCRIPTION_UNKNOWN: request(404, "The endpoint has not been described yet"),
  WATCH_UNKNOWN: request(404, "The watch is not known"),
  INCIDENT_UNKNOWN: request(404, "The incident is not known"),
  JOB_UNKNOWN: request(404, "The job is not known"),
  JOB_FINISHED: request(409, "The job is finished already"),
  ENTRY_INVALID: request(422, "The catalogue entry is not valid"),
  ENTRY_CONFLICT: request(409, "The catalogue has such an entry already"),
  PRECONDITION_FAILED: request(412, "The document has changed since it was read"),
  SNAPSHOT_IMPLAUSIBLE: request(409, "The snapshot is not plausible"),
  SHARDS_UNKNOWN: request(404, "There are no such shards here"),
  SHARDS_BUSY: request(409, "The shards are being built already"),
  SHARDS_INVALID: request(422, "The shards are damaged or unfinished"),
  DATASET_INVALID: request(422, "The dataset cannot be read"),
  DISK_FULL: own(507, "There is too little room on the disk", false),
  WEBHOOK_FAILED: own(502, "The receiver of a webhook did not take the message", true),
  WEBHOOK_GIVEN_UP: own(502, "A webhook was given up", false),
  TOKEN_REQUIRED: request(401, "A key or the admin token is needed"),
  KEY_REFUSED: request(401, "The credentials are not valid"),
  ROLE_REFUSED: request(403, "The client's role does not allow this"),
  CLIENT_UNKNOWN: request(404, "There is no such client"),
  CLIENT_EXISTS: request(409, "There is such a client already"),
  WRITE_REFUSED: request(403, "Changes are not allowed from here"),
  HOST_REFUSED: request(421, "The request is for another host"),
  RATE_LIMITED: own(429, "Too many requests from this client", true),
  SERVICE_BUSY: own(503, "The service has too much to do", true),
  BUDGET_SPENT: own(422, "The call would send too many requests to endpoints", false),
  QUOTA_SPENT: own(429, "The client has used up its quota", true),
  SESSION_SPENT: own(429, "The session has used up what it may", false),
  DEADLINE_EXCEEDED: own(504, "The query did not finish in time", true),
  EVALUATION_LOST: own(503, "The evaluation was cut off", true),
  EVALUATION_TOO_LARGE: own(422, "The query needs more than one evaluation may have", false),
  CANCELLED: own(499, "The request was cancelled", false),
  ADDRESS_REFUSED: upstream(502, "The endpoint's address is not allowed", false),
  ENDPOINT_UNREACHABLE: upstream(502, "The endpoint could not be reached", true),
  ENDPOINT_TIMEOUT: upstream(504, "The endpoint did not answer in time", true),
  ENDPOINT_BROKE_OFF: upstream(502, "The endpoint broke off its answer", true),
  ENDPOINT_REJECTED_QUERY: upstream(400, "The endpoint rejected the query", false),
  ENDPOINT_REFUSED: upstream(502, "The endpoint refused the request", false),
  ENDPOINT_RATE_LIMITED: upstream(503, "The endpoint asks to be left alone for a while", true),
  ENDPOINT_FAILED: upstream(502, "The endpoint failed", true),
  ENDPOINT_DATA_INVALID: upstream(502, "The endpoint's data cannot be loaded", false),
  ENDPOINT_NOT_SPARQL: upstream(502, "The endpoint did not answer with SPARQL results", false),
  ENDPOINT_MALFORMED: upstream(502, "The endpoint's answer is malformed", false),
  ENDPOINT_PARTIAL: upstream(502, "The endpoint gave only part of the answer", true),
  ENDPOINT_REDIRECT: upstream(502, "The endpoint redirects where Fedway does not follow", false),
  ENDPOINT_BUSY: upstream(503, "Too many requests are waiting for the endpoint", true),
  CIRCUIT_OPEN: upstream(503, "The endpoint failed repeatedly and is cooling down", true),
  ANSWER_TOO_LARGE: upstream(502, "The answer is larger than allowed", false),
  EMPTY_TERM: finding("No data has a class or property of the query"),
  EMPTY_VALUE: finding("No data has a value that the query names"),
  EMPTY_DIRECTION: finding("A pattern asks for a property in the wrong direction"),
  EMPTY_ENDPOINT: finding("A part of the query asks an endpoint that has nothing for it"),
  EMPTY_FILTER: finding("A FILTER leaves nothing"),
  EMPTY_KEYS: finding("Two parts of the query write the values that join them in different ways"),
  EMPTY_JOIN: finding("Parts of the query that have solutions have none together"),
  EMPTY_PATTERN: finding("A part of the query has no solutions"),
  EMPTY_MODIFIER: finding("The query leaves out all solutions that its patterns have"),
  EMPTY_OUTDATED: finding("The answer is empty because a description is out of date"),
  EMPTY_UNDECIDED: finding("Why the answer is empty is not known"),
  CONFIG_INVALID: own(500, "The configuration is not valid", false),
  CATALOG_INVALID: own(500, "The catalogue is not valid", false),
  STORE_FAILED: own(503, "The service's own storage failed", true),
  STORE_HELD: own(503, "Another process holds the data folder", false),
  MODEL_FAILED: own(502, "The language model failed", true),
  SOLVER_FAILED: own(500, "The answer-set solver failed", false),
  INTERNAL: own(500, "Something went wrong inside Fedway", true),
} as const satisfies Record<string, ErrorKind>;

/** A stable, machine-readable error code. */
export type ErrorCode = keyof typeof errorCatalog;

/** True if a text from elsewhere, such as a stored job, is the code of an error. */
export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errorCatalog, text);
