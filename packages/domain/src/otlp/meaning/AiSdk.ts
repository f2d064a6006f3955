import { nameOf } from "../AttributeValues.ts"
import type { MeaningKind } from "../Meaning.ts"
import type { Family, Kind } from "./Family.ts"

const kindOfOperation = (operation: string): MeaningKind | undefined => {
  if (/\.do(?:Generate|Stream)$/.test(operation)) return "model"
  if (/\.doEmbed$/.test(operation)) return "model"
  if (/\.doRerank$/.test(operation)) return "retrieval"
  if (operation === "ai.toolCall") return "tool"
  if (operation === "ai.agent") return "agent"
  return operation.startsWith("ai.") ? "step" : undefined
}

/**
 * The AI SDK of Vercel. `ai.generateText` and the like repeat the usage of the calls inside: they are steps, of the
 * function that their telemetry settings name.
 */
export const aiSdk: Family = {
  kind: ({ attributes }): Kind | undefined => {
    const operation = attributes["ai.operationId"]
    if (typeof operation !== "string") return undefined
    const kind = kindOfOperation(operation)
    if (kind === undefined) return undefined
    return { kind, operation: operation.endsWith(".doEmbed") ? "embeddings" : operation }
  },
  agent: ({ attributes }) => nameOf(attributes["ai.telemetry.functionId"])
}
