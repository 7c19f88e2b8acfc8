import type { AskAnswer } from "../../agent/ask/ask-answer.ts";
import { amountText, latencyText, numberText } from "../../figures.ts";
import { type Html, html } from "../../html.ts";
import { viewHtml } from "../../views/view-html.ts";
import type { Cell, View } from "../../views/view.ts";
import { endpointsOf, withoutModel } from "../ask-routes.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { callerOf } from "../caller.ts";
import { guardedAsking, hasAccess } from "../write-access.ts";
import { choiceField, consolePath, page, section } from "./layout.ts";
import { sendPrivatePage } from "./page-reply.ts";

const tags = ["Pages"];
const longestQuestion = 4_000;

/** The question and its options, as the form has them. */
interface Asked {
  readonly question: string;
  readonly dataset: string;
}

function form({ catalog }: HttpShell, { question, dataset }: Asked): Html {
  const titles = [...catalog.federations, ...catalog.entries].map(({ id, title }) => [id, `${title} (${id})`] as const);
  const choices = { "": "Found by the question", ...Object.fromEntries(titles) };
  return html`<form class="card" method="post" action="/ask">
<div><label for="question">Question</label><textarea id="question" name="question" rows="3" maxlength="${longestQuestion}" required>${question}</textarea></div>
<div>${choiceField({ name: "dataset", label: "Endpoint or federation", value: dataset, choices })}</div>
<p class="small muted">A language model writes the query; the rows come from the endpoints. That may take a minute, and costs the operator tokens.</p>
<div class="act"><button>Ask</button></div></form>`;
}

const cells = /(?:^|,)("(?:[^"]|"")*"|[^,]*)/g;

/** The cells of a line of CSV without line ends. */
const cellsOf = (line: string): readonly string[] =>
  [...line.matchAll(cells)].map(([, cell = ""]) => cell.replace(/^"(.*)"$/s, "$1").replaceAll('""', '"'));

/** Rows of a result as `run_query` gives it; its text where it has none. */
function rowsOf({ result, text }: AskAnswer): Omit<View, "title"> {
  const csv = result?.["csv"];
  if (typeof csv !== "string") return { code: text };
  const lines = csv.split("\n");
  const [head = "", ...rows] = lines.filter((line) => !line.startsWith("PREFIX "));
  const received = Number(result?.["rows_received"]);
  const more = rows.includes("...") ? [`${amountText(received, "row")}; the console shows all of them`] : [];
  const columns = cellsOf(head);
  return { lines: more, table: { columns, rows: rows.map((row) => (row === "..." ? [row] : cellsOf(row))) } };
}

const marks: Readonly<Record<string, string>> = { ok: "up", empty: "work", partial: "work", unknown: "unknown" };

function answerView(answer: AskAnswer): View {
  const { status, query, diagnosis, dropped, endpoints, tokens, cost, model, steps } = answer;
  const asked: Cell = endpoints.map((endpoint) => ({ text: endpoint, endpoint, look: "code" }));
  const counted = `${numberText(tokens.input)} in, ${numberText(tokens.output)} out${tokens.estimated ? " (estimated)" : ""}`;
  return {
    title: "Answer",
    ...rowsOf(answer),
    facts: [
      ["status", { text: status, mark: marks[status] ?? "down" }],
      ["why", diagnosis?.detail],
      ["next", diagnosis?.next],
      ["in the question, not in the query", dropped.length === 0 ? undefined : dropped.map(({ label }) => label)],
      ["endpoints shown to the model", endpoints.length === 0 ? undefined : asked],
      ["model", model],
      ["tokens", counted],
      ["cost", cost === null ? undefined : String(cost)],
    ],
    children: [
      ...(query === null ? [] : [{ title: "query", code: query }]),
      {
        title: "what was done",
        table: {
          columns: ["Step", "Outcome", "#Time"],
          rows: steps.map(({ step, outcome = "", ms }) => [step, outcome, latencyText(ms)]),
        },
      },
    ],
  };
}

const answerSection = (answer: AskAnswer): Html => {
  const console =
    answer.query === null
      ? ""
      : html`<p class="act"><a class="button" href="${consolePath(answer.query)}">Open in the query console</a></p>`;
  return section("answer", "Answer", html`${console}${viewHtml(answerView(answer), (id) => `/endpoints/${id}`)}`);
};

const askPage = (main: Html): string =>
  page({ title: "Ask", part: "ask", main: html`<h1>Ask a question</h1>\n${main}` });

/** `/ask`: a question in plain words, and its answer as rows with the query that found them. */
export function addAskPage(app: TypedApp, shell: HttpShell): void {
  app.get("/ask", {
    schema: { tags, summary: "A question in plain words, as a page with a form" },
    handler: async (request, reply) => {
      const { message, details } = withoutModel();
      if (shell.ask === undefined)
        return sendPrivatePage(reply, askPage(html`<div class="card"><p>${message}</p><p>${details.next}</p></div>`));
      const signIn = html`<p class="card">Questions cost the operator tokens: <a href="/login">sign in</a> to ask one.</p>`;
      return sendPrivatePage(reply, askPage(hasAccess(request) ? form(shell, { question: "", dataset: "" }) : signIn));
    },
  });
  app.post("/ask", {
    ...guardedAsking,
    bodyLimit: 16 * longestQuestion,
    schema: { tags, operationId: "askFromPage", summary: "Ask a question, from its page" },
    handler: async (request, reply) => {
      if (shell.ask === undefined) throw withoutModel();
      const fields = new URLSearchParams(typeof request.body === "string" ? request.body : "");
      const asked = {
        question: (fields.get("question") ?? "").trim().slice(0, longestQuestion),
        dataset: fields.get("dataset") ?? "",
      };
      if (asked.question === "") return sendPrivatePage(reply.code(400), askPage(form(shell, asked)));
      const endpoints = asked.dataset === "" ? undefined : endpointsOf(shell, asked.dataset);
      const answer = await shell.ask.ask({ question: asked.question, endpoints }, callerOf(request));
      if (answer.diagnosis) request.state.code = answer.diagnosis.code;
      return sendPrivatePage(reply, askPage(html`${form(shell, asked)}${answerSection(answer)}`));
    },
  });
}
