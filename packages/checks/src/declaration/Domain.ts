import type { FolderTables } from "./Rules.ts"

/** What every folder of the domain may know. */
const BASE = ["run", "frames", "values"]

export const domain: FolderTables = {
  domain: {
    "ag-ui": {
      meaning: "a run as events of AG-UI",
      knows: ["people", "narrative", "normaliser", "projector", "events", ...BASE]
    },
    narrative: { meaning: "a run as lines of text", knows: ["otlp", "events", ...BASE] },
    alerts: {
      meaning: "rules, windows, evaluation and formats of alerts",
      knows: ["gate", "marks", "insight", "policies", "query", "events", ...BASE]
    },
    erasure: {
      meaning: "search of the texts to erase, the plan of an erasure",
      knows: ["seals", "events", ...BASE]
    },
    seals: { meaning: "hash chain and proofs", knows: ["marks", "projector", "events", "receipts", ...BASE] },
    archive: { meaning: "columns, files and ranges of the archive", knows: ["events", ...BASE] },
    evidence: {
      meaning: "what an evidence bundle says of a run: oversight, models, gaps",
      knows: ["card", "insight", "projector", "policies", "events", ...BASE]
    },
    card: {
      meaning: "the picture of a decision: verdict, rings of votes, reasons",
      knows: ["insight", "policies", "receipts", ...BASE]
    },
    people: {
      meaning: "a person as a voter: seats, items, answers and what they are bound to",
      knows: ["a2a", "insight", "policies", "events", "usage", "prices", ...BASE]
    },
    a2a: { meaning: "what a server and a client of A2A both write and read", knows: [] },
    shadows: {
      meaning: "what an agent did that was tried beside a participant",
      knows: ["people", "events", ...BASE]
    },
    committee: {
      meaning: "how independent voters are, what each is worth, the cheapest committee",
      knows: ["marks", "insight", "policies", "statistics", "events", ...BASE]
    },
    gate: {
      meaning: "stability of decisions, verdicts of a gate",
      knows: ["marks", "insight", "statistics", "events", ...BASE]
    },
    otlp: {
      meaning: "spans of OpenTelemetry become canonical events",
      knows: ["marks", "projector", "events", "redaction", "usage", "prices", ...BASE]
    },
    marks: {
      meaning: "judgements, their agreement, the record of an agent",
      knows: ["insight", "policies", "events", "statistics", ...BASE]
    },
    insight: {
      meaning: "forecast, what-if, divergence",
      knows: ["projector", "policies", "events", "receipts", ...BASE]
    },
    projector: { meaning: "the fold of a run: state, metrics, usage", knows: ["events", "receipts", ...BASE] },
    normaliser: {
      meaning: "frames become canonical events",
      knows: ["events", "receipts", "redaction", "usage", "prices", ...BASE]
    },
    events: { meaning: "the typed events", knows: ["receipts", ...BASE] },
    redaction: { meaning: "patterns of redaction, and the texts that they search", knows: ["usage", ...BASE] },
    usage: { meaning: "token usage in payloads", knows: ["prices", ...BASE] },
    receipts: { meaning: "hashes of commitments, receipts of runtimes", knows: BASE },
    prices: { meaning: "prices of model calls", knows: BASE },
    policies: { meaning: "policy rules and their evaluation", knows: BASE },
    statistics: { meaning: "intervals, tests, resamples, agreement, calibration, counts by case", knows: ["values"] },
    query: { meaning: "the search language", knows: BASE },
    run: { meaning: "descriptor, status, participants, denials, outcome", knows: ["frames", "values"] },
    frames: { meaning: "the messages of a runtime", knows: ["values"] },
    values: { meaning: "JSON, texts, ids, money, digests", knows: [] }
  }
}
