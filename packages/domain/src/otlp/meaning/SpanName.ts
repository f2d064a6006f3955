import { nameOf } from "../AttributeValues.ts"
import type { MeaningKind } from "../Meaning.ts"
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

/** Older names of Pydantic AI and of the Agent Development Kit of Google. */
const AGENT_RUN = /^agent[ _]run(?: \[(.+)\])?$/
const OLDER: ReadonlyMap<string, MeaningKind> = new Map([
  ["call_llm", "model"],
  ["running tool", "tool"]
])

/** Spans that only their names classify. */
export const spanName: Family = {
  kind: ({ attributes, name }) => {
    if (HANDOFF.test(name)) return { kind: "handoff", operation: "handoff" }
    if (APPROVAL.test(name)) return { kind: "approval", operation: "approval" }
    // A name of HTTP or SQL may begin with the same words.
    const isGenAi = Object.keys(attributes).some((key) => key.startsWith("gen_ai.") || key.startsWith("llm."))
    const found = isGenAi ? OPERATIONS.find(([start]) => name.startsWith(start)) : undefined
    if (found !== undefined) return { kind: found[1], operation: found[0].trim() }
    if (AGENT_RUN.test(name)) return { kind: "agent", operation: "agent_run" }
    const older = isGenAi ? OLDER.get(name) : undefined
    return older === undefined ? undefined : { kind: older, operation: name }
  },
  agent: ({ name }, kind) => (kind === "agent" ? nameOf(AGENT_RUN.exec(name)?.[1]) : undefined),
  handoff: ({ name }, kind) => {
    const to = HANDOFF.exec(name)?.[1]
    return to === undefined || kind !== "handoff" ? undefined : { to: nameOf(to) }
  }
}
