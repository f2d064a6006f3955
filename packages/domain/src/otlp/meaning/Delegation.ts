import type * as Schema from "effect/Schema"
import { isJsonObject } from "../../values/JsonReader.ts"
import { jsonAt, nameAt, nameOf } from "../AttributeValues.ts"
import type { MeaningKind } from "../Meaning.ts"
import type { Family, Named } from "./Family.ts"

/** `transfer_to_security`, `handoff_to_sre`, `Handoff-transfer_to_billing`, `handoff`. */
const HANDOFF_TOOL = /^(?:[\w ]+[-.:])?(?:hand[_-]?off|transfer)(?:_(?:back_)?to_(.+))?$/i

/** Tools whose target is an argument. */
const GENERIC: ReadonlySet<string> = new Set(["agent", "an_agent", "another_agent", "next_agent", "coworker"])

/** Arguments that name the target. */
const TARGETS = [
  ...["agent_name", "agentName", "agent", "target_agent", "targetAgent", "target", "to_agent", "destination"],
  ...["next_agent", "to", "assistant_name", "coworker", "name"]
]

/** Tools that give work to another agent, and wait for its answer. */
const DELEGATING = /^(?:delegate|assign|send|ask)[\w ]*?[ _]to[ _](?:an?[ _])?(?:co-?worker|agent)/i
const SUBAGENT_TOOLS: ReadonlySet<string> = new Set(["Task", "Agent", "task", "agent"])
const CO_WORKERS = ["coworker", "co_worker", "coWorker", "Coworker"]

const argumentAt = (value: Schema.Json | undefined, names: ReadonlyArray<string>): string | undefined => {
  if (!isJsonObject(value)) return undefined
  for (const name of names) {
    const found = nameOf(value[name])
    if (found !== undefined) return found
  }
  // Some emitters put the arguments one level deeper.
  const inner = value["kwargs"] ?? value["arguments"] ?? value["input"]
  return isJsonObject(inner) ? argumentAt(inner, names) : undefined
}

const toolOf = ({ attributes, name }: Named): string =>
  nameAt(attributes, "toolName") ?? nameOf(attributes["traceloop.entity.name"]) ?? nameOf(name) ?? ""

/** Tools that every framework uses to change the agent: handoffs and delegations, by their names and arguments. */
export const delegation: Family = {
  handoff: (span, kind) => {
    if (!isTool(kind)) return undefined
    const found = HANDOFF_TOOL.exec(toolOf(span).replace(/^execute_tool /, ""))
    if (found === null) return undefined
    const named = found[1] === undefined || GENERIC.has(found[1].toLowerCase()) ? undefined : nameOf(found[1])
    return { to: named ?? argumentAt(jsonAt(span.attributes, "toolArguments"), TARGETS) }
  },
  delegate: (span, kind) => {
    if (kind !== "tool") return undefined
    const tool = toolOf(span)
    const isSubagent = SUBAGENT_TOOLS.has(tool)
    const input = jsonAt(span.attributes, "toolArguments")
    if (isSubagent) return argumentAt(input, ["subagent_type", "subagentType", "agent_type"])
    return argumentAt(input, DELEGATING.test(tool) ? [...CO_WORKERS, ...TARGETS] : CO_WORKERS)
  },
  hidesDelegate: (span, kind) => (kind === "tool" && DELEGATING.test(toolOf(span)) ? true : undefined)
}

const isTool = (kind: MeaningKind): boolean => kind === "tool" || kind === "handoff"
