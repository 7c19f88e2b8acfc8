import {
  apiKey,
  flag,
  folderOrUrl,
  folders,
  httpUrl,
  integer,
  names,
  oneOf,
  optionalText,
  secretText,
  type SettingTree,
  tokenPrice,
} from "./setting-parsers.ts";

/** The part of the settings that is about agents and their tools. */
export const agentSettings = {
  profile: {
    name: "FEDWAY_TOOL_PROFILE",
    default: "full",
    meaning:
      "Tools that agents are shown: full, small (four, for small models), builder (queries from numbered choices), paper (two, to repeat its runs) or benchmark (these and one that submits a final query).",
    ...oneOf("full", "small", "paper", "builder", "benchmark"),
  },
  toolsOff: {
    name: "FEDWAY_TOOLS_OFF",
    default: "",
    meaning: "Tools to hide from agents, separated by commas.",
    ...names("names of tools"),
  },
  repair: {
    name: "FEDWAY_TOOLS_REPAIR",
    default: "on",
    meaning: "Repair agents' queries that do not parse before running them; the answer says so.",
    ...flag,
  },
  acceptAdapters: {
    name: "FEDWAY_ACCEPT_ADAPTERS",
    default: "off",
    meaning:
      "Let agents with the role write define how unlike keys of two endpoints are joined in all queries (accept_adapter).",
    ...flag,
  },
  explainEmpty: {
    name: "FEDWAY_EXPLAIN_EMPTY",
    default: "on",
    meaning: "Explain empty answers of /api/query by asking endpoints for parts of the query.",
    ...flag,
  },
  diagnosisRequests: {
    name: "FEDWAY_DIAGNOSIS_REQUESTS",
    default: "120",
    meaning: "Maximum requests to endpoints for one diagnosis of an empty answer, which has 20 questions.",
    ...integer(1, 1_000_000),
  },
  mcpToken: {
    name: "FEDWAY_MCP_TOKEN",
    default: "",
    meaning: "Bearer token that /mcp asks for; open to all who reach it when unset.",
    ...secretText,
  },
  harvest: {
    rows: {
      name: "FEDWAY_HARVEST_ROWS",
      default: "50000",
      meaning:
        "Labels and values that are read from one endpoint after it was described, for search and schemas; 0 is none, nor examples.",
      ...integer(0, 50_000),
    },
    except: {
      name: "FEDWAY_HARVEST_EXCEPT",
      default: "",
      meaning: "Ids of endpoints, separated by commas, whose labels, values and examples are not read.",
      ...names("ids"),
    },
  },
  queryExamples: {
    name: "FEDWAY_QUERY_EXAMPLES",
    default: "",
    meaning: "Folders of solved questions (SHACL in Turtle, or JSON lines) beside those in FEDWAY_CATALOG/queries.",
    ...folders,
  },
  experience: {
    name: "FEDWAY_EXPERIENCE",
    default: "0",
    meaning: "Questions and queries of agents that are kept as examples, with how they ended; 0 keeps none.",
    ...integer(0, 20_000),
  },
} satisfies SettingTree;

/** The model behind search by meaning. */
export const embeddingSettings = {
  source: {
    name: "FEDWAY_EMBEDDINGS",
    default: "",
    meaning:
      "Model of search by meaning: a folder, or an OpenAI-compatible API such as http://127.0.0.1:11434/v1; when unset, the one that `fedway embeddings install` has installed, if any.",
    ...folderOrUrl,
  },
  model: {
    name: "FEDWAY_EMBEDDINGS_MODEL",
    default: "",
    meaning: "Name of the model at that API.",
    ...optionalText("a name"),
  },
  key: {
    name: "FEDWAY_EMBEDDINGS_KEY",
    default: "",
    meaning: "Key of that API, sent as a bearer token.",
    ...apiKey,
  },
} satisfies SettingTree;

/** The model of the reference agent, which answers `/api/ask`. */
export const chatSettings = {
  url: {
    name: "FEDWAY_CHAT",
    default: "",
    meaning:
      "OpenAI-compatible chat API, such as http://127.0.0.1:11434/v1, with which /api/ask and fedway ask answer; off when unset.",
    ...httpUrl,
  },
  model: {
    name: "FEDWAY_CHAT_MODEL",
    default: "",
    meaning: "Name of the model at that API.",
    ...optionalText("a name"),
  },
  key: {
    name: "FEDWAY_CHAT_KEY",
    default: "",
    meaning: "Key of that API, sent as a bearer token.",
    ...apiKey,
  },
  mode: {
    name: "FEDWAY_CHAT_MODE",
    default: "text",
    meaning:
      "How the model is asked: text, tools (it calls tools itself), or grammar (its server takes a GBNF, as llama.cpp).",
    ...oneOf("text", "tools", "grammar"),
  },
  price: {
    name: "FEDWAY_CHAT_PRICE",
    default: "",
    meaning: "Price of a million tokens in and out, such as 0.15/0.60; answers then show their cost.",
    ...tokenPrice,
  },
  tokens: {
    name: "FEDWAY_ASK_TOKENS",
    default: "50000",
    meaning: "Tokens of the model that one question may cost, in and out.",
    ...integer(1_000, 10_000_000),
  },
  timeoutMs: {
    name: "FEDWAY_ASK_TIMEOUT_MS",
    default: "120000",
    meaning: "Time limit of one question, in milliseconds.",
    ...integer(1_000, 3_600_000),
  },
} satisfies SettingTree;
