import type { HttpShell, TypedApp } from "../http-deps.ts";
import { toHttpError } from "../problem-reply.ts";
import { addAskPage } from "./ask-page.ts";
import { addAssets } from "./assets.ts";
import { addCatalogPage } from "./catalog-page.ts";
import { addConsole } from "./console-page.ts";
import { addDocs } from "./docs-page.ts";
import { addEndpointPage } from "./endpoint-page.ts";
import { addFederationPage } from "./federation-page.ts";
import { addHelp } from "./help-page.ts";
import { addIncidentPages } from "./incident-page.ts";
import { addListPages } from "./list-pages.ts";
import { addAsking, addLogin } from "./login.ts";
import { addMaintenanceForms } from "./maintenance-forms.ts";
import { addOwnerPage } from "./owner-page.ts";
import { sendRefusalPage } from "./page-reply.ts";
import { addRunPages } from "./runs-page.ts";
import { addStatusPage } from "./status-page.ts";
import { addUnsubscribe } from "./unsubscribe-page.ts";
import { addWatches } from "./watches-page.ts";

/** Errors on the way to a page are answered with a page. */
function answerWithPages(app: TypedApp, { logger }: HttpShell): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = toHttpError(thrown);
    if (error.code === "INTERNAL") logger?.error({ err: error.cause ?? error }, "unexpected error");
    return sendRefusalPage(request, reply, error);
  });
}

const parts = [
  answerWithPages,
  addAssets,
  addCatalogPage,
  addConsole,
  addEndpointPage,
  addOwnerPage,
  addFederationPage,
  addStatusPage,
  addIncidentPages,
  addListPages,
  addWatches,
  addRunPages,
  addLogin,
  addAsking,
  addMaintenanceForms,
  addUnsubscribe,
  addHelp,
  addAskPage,
  addDocs,
];

/** The pages for people and what they load. */
export const addPageRoutes = (parent: TypedApp, shell: HttpShell): void =>
  void parent.register(async (app: TypedApp) => {
    for (const add of parts) add(app, shell);
  });
