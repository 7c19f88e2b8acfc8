import { existsSync, readFileSync } from "node:fs";
import { Marked, type Tokens } from "marked";
import { Type } from "typebox";
import { FedwayError } from "../../errors/fedway-error.ts";
import { html } from "../../html.ts";
import { packageFile } from "../../package-file.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { openToAll } from "../write-access.ts";
import { page } from "./layout.ts";
import { sendPage } from "./page-reply.ts";

/** The service in the commands and links of the guide; pages name this service instead. */
const anyService = /http:\/\/127\.0\.0\.1:3000/g;

const GuidePath = Type.Object({
  page: Type.String({ pattern: "^[a-z0-9-]{1,60}$", description: "Name of a page, as in the links of /help." }),
});

/** Anchor of a heading, as GitHub makes it. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- ]/gu, "")
    .replace(/ /g, "-");

/** Links of the guide as paths of this service; undefined for files that are not served. */
function targetOf(href: string): string | undefined {
  const [, name, anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (name !== undefined) return `${name === "README" ? "/help" : `/help/${name}`}${anchor}`;
  const own = href.replace(anyService, "");
  return own === "" ? "/" : /^(?:\/(?!\/)|#|https?:\/\/)/.test(own) ? own : undefined;
}

const markdown = new Marked({
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => html`${text}`.html,
    code: ({ text }) => html`<pre tabindex="0" role="group" aria-label="Code"><code>${text}</code></pre>\n`.html,
    image: ({ text }) => html`${text}`.html,
    heading({ depth, text, tokens }) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const target = targetOf(href);
      return target === undefined ? text : html`<a href="${target}">${{ html: text }}</a>`.html;
    },
  },
});

const inFrame = (text: string): string =>
  text
    .replaceAll("<table>", '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>");

/** A page of `deploy/guide`. @throws FedwayError `NOT_FOUND` */
function guidePage(name: string, publicUrl: string): string {
  const file = packageFile(`deploy/guide/${name}.md`);
  if (!existsSync(file)) {
    throw new FedwayError("NOT_FOUND", `The guide has no page "${name}".`, { next: "Look at the list at /help." });
  }
  const text = readFileSync(file, "utf8");
  const title = /^# (.*)/.exec(text)?.[1] ?? name;
  const body = inFrame(markdown.parse(text, { async: false })).replaceAll(anyService, () => html`${publicUrl}`.html);
  const back = name === "README" ? "" : html`<p class="meta"><a href="/help">All pages of the guide</a></p>`;
  return page({
    title,
    part: "help",
    main: html`${back}<div class="prose">${{ html: body }}</div>`,
  });
}

/** The user guide, open to everybody: it also says how to get a key. */
export function addHelp(app: TypedApp, { publicUrl }: HttpShell): void {
  const pages = new Map<string, string>();
  const shown = (name: string): string => {
    const text = pages.get(name) ?? guidePage(name, publicUrl());
    pages.set(name, text);
    return text;
  };
  app.get("/help", {
    ...openToAll,
    schema: { tags: ["Pages"], summary: "The user guide, ordered by task" },
    handler: async (request, reply) => sendPage(request, reply, shown("README")),
  });
  app.get("/help/:page", {
    ...openToAll,
    schema: { tags: ["Pages"], operationId: "showHelpPage", summary: "One page of the user guide", params: GuidePath },
    handler: async (request, reply) => sendPage(request, reply, shown(request.params.page)),
  });
}
