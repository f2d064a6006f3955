import type { FolderTables } from "./Rules.ts"

/** What the groups of the HTTP contract are made of. */
const CONTRACT = ["caller", "errors", "middleware", "openapi", "validation", "Version.ts"]

export const clients: FolderTables = {
  console: {
    pages: { meaning: "one folder a page", knows: ["live", "ui", "client", "view"] },
    shell: { meaning: "sidebar, keys, themes, sign-in, connection status", knows: ["ui", "client", "view"] },
    live: { meaning: "the events of a run, live", knows: ["client", "view"] },
    ui: { meaning: "components that pages share", knows: ["client", "view"] },
    client: { meaning: "calls, the session, the connection", knows: ["view"] },
    view: { meaning: "the content of pages as pure functions, tested without a browser", knows: [] }
  },
  cli: {
    commands: {
      meaning: "one command a file",
      knows: [
        "gate",
        "query",
        "narrative",
        "CliFailure.ts",
        "Connection.ts",
        "FileText.ts",
        "JsonText.ts",
        "Output.ts",
        "ProfileFile.ts",
        "Table.ts",
        "Unreachable.ts"
      ]
    },
    query: {
      meaning: "SQL over the files of an archive",
      knows: ["narrative", "CliFailure.ts", "JsonText.ts", "Output.ts", "TextWidth.ts"]
    },
    gate: { meaning: "the runs of a gate and its reports", knows: ["narrative", "CliFailure.ts", "FileText.ts"] },
    narrative: { meaning: "events as lines of text", knows: ["TextWidth.ts"] }
  },
  mcp: {
    tools: {
      meaning: "one file a subject: schemas, descriptions, hints, the calls of the client",
      knows: ["ToolSpec.ts", "Backend.ts", "Events.ts", "SealCheck.ts", "Shape.ts", "Facts.ts"]
    },
    "ToolSpec.ts": {
      meaning: "the parts of a tool: name, access, input, output, call",
      knows: ["Backend.ts", "Shape.ts", "Facts.ts"]
    },
    "Events.ts": { meaning: "events in short", knows: ["Shape.ts", "Facts.ts"] },
    "Backend.ts": { meaning: "the services that the tools call", knows: ["Subscriptions.ts"] },
    "Subscriptions.ts": { meaning: "runs that clients follow", knows: [] },
    "SealCheck.ts": { meaning: "signatures of seals", knows: [] },
    "Shape.ts": { meaning: "pure: the bounds of answers in bytes, texts of agents last", knows: ["Facts.ts"] },
    "Facts.ts": { meaning: "pure: facts, and aliases of texts that are not identifiers", knows: ["Identifier.ts"] },
    "Identifier.ts": { meaning: "pure: recognises identifiers", knows: [] }
  },
  api: {
    promise: { meaning: "the typed client with promises", knows: ["client"] },
    client: { meaning: "the typed clients and the event streams", knows: ["control-plane", "launcher"] },
    "control-plane": { meaning: "the groups of the control plane", knows: ["service", ...CONTRACT] },
    launcher: { meaning: "the groups of the launch service", knows: ["service", ...CONTRACT] },
    service: { meaning: "endpoints that both services have", knows: CONTRACT },
    openapi: { meaning: "the texts about endpoints for readers", knows: ["caller"] },
    middleware: { meaning: "checks in front of endpoints", knows: ["errors", "caller"] },
    errors: { meaning: "the errors and the failures of endpoints", knows: ["caller"] },
    validation: { meaning: "rules of parameters, queries and bodies", knows: [] },
    caller: { meaning: "roles and access", knows: [] },
    "Version.ts": { meaning: "the version", knows: [] }
  }
}
