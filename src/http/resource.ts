import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from "fastify";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { Job } from "../jobs/job-queue.ts";
import { resources } from "../views/resources.ts";
import { sendNothing, sendNow } from "./common-headers.ts";
import type { TypedApp } from "./http-deps.ts";
import { sendAccepted } from "./job-view.ts";
import { accepted } from "./registry-schemas.ts";
import { answers, documented, nothing, view } from "./schemas.ts";
import { pathPart } from "./sparql-routes.ts";
import { guarded } from "./write-access.ts";

/** Common parts of the routes of a resource. */
interface Resource<Item, Filter extends TObject> {
  /** Heading of the documentation. */
  readonly heading: string;
  /** Path of one of them: its id. */
  readonly params: TObject;
  /** Parameters of the list; absent: they are ignored. */
  readonly filter?: Filter;
  /** One of them as clients get it, and the list where its items have other fields. */
  readonly view: TSchema;
  readonly list?: TSchema;
  readonly show: (item: Item, request: FastifyRequest, isListed: boolean) => object | Promise<object>;
  /** Sends what is read: of the moment by default. */
  readonly send?: (reply: FastifyReply, value: object) => FastifyReply;
  /** Of all routes; by default those that change something are guarded. */
  readonly options?: RouteShorthandOptions;
}

type Asked<Query extends TSchema> = FastifyRequest<{ Querystring: Static<Query> }>;
type Listed<Item> = Promise<{ readonly items: readonly Item[]; readonly next?: string | undefined }>;

/** Adds the routes of a resource below `/api/`, named by the table of resources. A use case throws where there is no such thing. */
export function resource<Item, Filter extends TObject>(
  app: TypedApp,
  name: keyof typeof resources,
  its: Resource<Item, Filter>,
) {
  const { heading, params, filter, view: shown, show, send = sendNow } = its;
  const { one, many = `${one}s`, field = name } = resources[name];
  const part = Object.keys(params.properties).join("");
  const all = `/api/${name}`;
  const each = `${all}/:${part}`;
  const idOf = (request: FastifyRequest): string => pathPart(request, part);
  const next = filter !== undefined && "cursor" in filter.properties && { next: Type.Optional(Type.String()) };
  const list = answers(its.list ?? view(`${one}List`, { [field]: Type.Array(shown), ...next }));

  const add = <Query extends TSchema>(
    [method, url]: readonly ["GET" | "POST" | "DELETE", string],
    [operationId, summary]: readonly [string, string],
    { querystring, response }: { readonly querystring?: Query | undefined; readonly response: object },
    handler: (request: Asked<Query>, reply: FastifyReply) => Promise<FastifyReply>,
  ): void => {
    const { options = method === "GET" ? {} : guarded } = its;
    const doc = documented(heading)(operationId, summary);
    const schema = { ...doc, ...(url !== all && { params }), ...(querystring && { querystring }), response };
    app.route<{ Querystring: Static<Query> }>({ ...options, method, url, schema, handler });
  };
  const sendList = async (request: FastifyRequest, reply: FastifyReply, listed: Listed<Item>) => {
    const page = await listed;
    const items: object[] = [];
    for (const item of page.items) items.push(await show(item, request, true));
    return send(reply, { [field]: items, next: page.next });
  };
  return {
    /** `GET /api/jobs`. */
    list: (summary: string, items: (request: Asked<Filter>) => Listed<Item>): void =>
      add(["GET", all], [`list${many}`, summary], { querystring: filter, response: list }, async (request, reply) =>
        sendList(request, reply, items(request)),
      ),
    /** `GET /api/endpoints/{id}/incidents`. */
    listOfEndpoint: (summary: string, items: (endpoint: string) => Listed<Item>): void =>
      add(
        ["GET", `/api/endpoints/:id/${name}`],
        [`listEndpoint${many}`, summary],
        { response: list },
        async (request, reply) => sendList(request, reply, items(idOf(request))),
      ),
    /** `GET /api/jobs/{id}`. */
    get: (summary: string, find: (id: string) => Promise<Item>): void =>
      add(["GET", each], [`get${one}`, summary], { response: answers(shown) }, async (request, reply) =>
        send(reply, await show(await find(idOf(request)), request, false)),
      ),
    /** `POST /api/watches/{id}/run`, which is answered with the job. */
    job: <Query extends TSchema>(
      [path, operationId = `${path}${one}`]: readonly [path: string, operationId?: string],
      summary: string,
      start: (id: string, request: Asked<Query>) => Promise<Job>,
      querystring?: Query,
    ): void => {
      const schemas = { querystring, response: accepted };
      add(["POST", `${each}/${path}`], [operationId, summary], schemas, async (request, reply) =>
        sendAccepted(reply, await start(idOf(request), request)),
      );
    },
    /** `DELETE /api/jobs/{id}`. */
    remove: (verb: string, summary: string, remove: (id: string) => Promise<unknown>): void =>
      add(["DELETE", each], [`${verb}${one}`, summary], { response: nothing }, async (request, reply) => {
        await remove(idOf(request));
        return sendNothing(reply);
      }),
  };
}
