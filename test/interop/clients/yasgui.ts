import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { listening } from "../../support/listening.ts";

/** A request as YASGUI's settings make it. */
interface Request {
  readonly query: string;
  readonly endpoint: string;
  readonly method?: "GET" | "POST";
  /** The format of its menu. */
  readonly accept?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const page = `<!doctype html>
<html lang="en">
  <meta charset="utf-8"><title>YASGUI</title><link rel="icon" href="data:,">
  <link rel="stylesheet" href="/yasqe.min.css"><link rel="stylesheet" href="/yasr.min.css">
  <div id="editor"></div><div id="result"></div>
  <script src="/yasqe.min.js"></script><script src="/yasr.min.js"></script>
  <script>
    const yasqe = new Yasqe(document.getElementById("editor"), { persistenceId: null });
    const yasr = new Yasr(document.getElementById("result"), { persistenceId: null });
    yasqe.on("queryResponse", (_, response, duration) => yasr.setResponse(response, duration));

    async function show({ query, accept, ...request }) {
      const drawn = new Promise((resolve) => yasr.once("drawn", resolve));
      yasqe.setValue(query);
      const accepted = accept ? { acceptHeaderSelect: accept, acceptHeaderGraph: accept } : {};
      await yasqe.query({ ...request, ...accepted }).catch(() => undefined);
      await drawn;
      const [view] = yasr.resultsEl.querySelectorAll(".booleanResult, .errorResult, .CodeMirror");
      return view ? view.innerText : yasr.resultsEl.querySelectorAll("tbody tr").length;
    }
  </script>
</html>`;

/** Serves YASQE and YASR, of which YASGUI consists, from an origin of their own. */
export async function serveYasgui() {
  const server = createServer((request, response) => {
    const [, name, kind] = /^\/(yasqe|yasr)\.min\.(js|css)$/u.exec(request.url ?? "") ?? [];
    if (name === undefined) {
      response.writeHead(200, { "content-type": "text/html" }).end(page);
      return;
    }
    response.writeHead(200, { "content-type": kind === "js" ? "text/javascript" : "text/css" });
    createReadStream(new URL(`../../../node_modules/@zazuko/${name}/build/${name}.min.${kind}`, import.meta.url)).pipe(
      response,
    );
  });
  const { origin, close } = await listening(server);
  return { url: origin, close };
}

/** What YASGUI shows: the rows of its table, or the text of another view (a boolean, the answer as it came, an error). */
export const shownBy = (yasgui: Page, request: Request): Promise<number | string> =>
  yasgui.evaluate<number | string>(`show(${JSON.stringify(request)})`);
