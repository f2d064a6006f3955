/** Copies of a text that the service cannot reach: each answer of an erasure lists them. */
export const NOT_REACHED: ReadonlyArray<string> = [
  "the history and the log of the runtime",
  "questions and answers in the database of the launch service: runplane erase people SESSION erases them",
  "logs of agents, and what their models and tools keep",
  "log lines and traces that this service has written",
  "backups of the database and its write-ahead log, until they expire",
  "exports that were downloaded before",
  "saved searches, silences, rules and policies that have the text",
  "notifications that webhooks have delivered, or are delivering now",
  "what clients have read or received by streams",
  "hashes of the runtime over a commitment: a short text can be guessed by them"
]
