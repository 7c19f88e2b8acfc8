import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import { sessionName, sessionPattern } from "../query/records.ts";
import { clientSignal } from "./exchange.ts";
import { hasAccess, requireRole } from "./write-access.ts";

/** Owner of the runs and sessions that a request may see and makes: its client, the admin, else its address. */
export const ownerOf = ({ caller }: FastifyRequest): string => caller.owner;

/** Viewer of runs, who may also cancel them: administrators those of all. */
export const viewerOf = (request: FastifyRequest) => ({
  owner: ownerOf(request),
  isOperator: hasAccess(request, "admin"),
});

const wellFormed = new RegExp(sessionPattern);
export const SessionHeader = Type.Object({ "fedway-session": Type.Optional(sessionName) });

/** For whom a request's work is done: until its client leaves, and within which session and trace. */
export const callerOf = (request: FastifyRequest) => ({
  signal: clientSignal(request.exchange),
  owner: ownerOf(request),
  session: sessionOf(request),
  trace: request.exchange.span?.context,
  withoutCredentials: !request.caller.mayUseCredentials,
  requireWrite: () => requireRole(request, "write"),
});

/** The session that a request says it belongs to. @throws FedwayError `REQUEST_INVALID` */
function sessionOf({ headers }: FastifyRequest): string | undefined {
  const given = headers["fedway-session"];
  if (given === undefined || (typeof given === "string" && wellFormed.test(given))) return given;
  throw new FedwayError("REQUEST_INVALID", "The header Fedway-Session is malformed.", {
    next: "Send 1 to 100 letters, digits or one of . _ ~ : - of your own choice, or leave the header out.",
  });
}
