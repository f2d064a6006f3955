import { type DescribedField, fast } from "../query/DescribedField.ts"

/** What the spans of a run say, as fields of its searches (docs/reference/ingest.md#runs). */
export const telemetryOfRun = {
  source: { name: "source", type: "keyword", ...fast, description: "Name of the key that sent its spans" },
  conversation: { name: "conversation", type: "keyword", ...fast, description: "Conversation that its spans name" },
  framework: { name: "framework", type: "keyword", ...fast, description: "Agent framework of its spans" },
  prompt: { name: "prompt", type: "keyword", ...fast, description: "Name, version or hash of its prompt" }
} as const satisfies Readonly<Record<string, DescribedField>>
