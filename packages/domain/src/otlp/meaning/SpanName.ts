import { nameOf } from "../Values.ts"
import type { Family } from "./Family.ts"

const HANDOFF = /^handoff to (.+)$/i
const APPROVAL = /^(?:\w+[ ._-])?(?:human_|user_|tool_)?approval(?:[ ._-]|$)/i

/** The operations of the conventions, where only the name of the span says them. */
const OPERATIONS = [
  ["invoke_agent ", "agent"],
  ["invoke_workflow ", "workflow"],
  ["create_agent", "construction"],
  ["execute_tool ", "tool"],
  ["chat ", "model"],
  ["embeddings ", "model"]
] as const

/** Spans that only their names classify. */
export const spanName: Family = {
  kind: ({ attributes, name }) => {
    if (HANDOFF.test(name)) return { kind: "handoff", operation: "handoff" }
    if (APPROVAL.test(name)) return { kind: "approval", operation: "approval" }
    // A name of HTTP or SQL may begin with the same words.
    const isGenAi = Object.keys(attributes).some((key) => key.startsWith("gen_ai.") || key.startsWith("llm."))
    const found = isGenAi ? OPERATIONS.find(([start]) => name.startsWith(start)) : undefined
    return found === undefined ? undefined : { kind: found[1], operation: found[0].trim() }
  },
  handoff: ({ name }, kind) => {
    const to = HANDOFF.exec(name)?.[1]
    return to === undefined || kind !== "handoff" ? undefined : { to: nameOf(to) }
  }
}
