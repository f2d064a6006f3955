import type * as Schema from "effect/Schema"
import { jsonOf, nameOf } from "../AttributeValues.ts"
import { ATTRIBUTES } from "../Names.ts"
import type { Attributes } from "../Span.ts"
import type { Family } from "./Family.ts"

/** `acme.agent_run.input`: texts of an agent or a tool under a name of the emitter. */
const OWN_TEXT = /^(?!traceloop\.)[\w-]+(?:\.[\w-]+)*?\.(?:agent_run|agent|tool_run|tool|task_run)\.(input|output)s?$/

/** Texts that emitters state under names of their own. */
export const ownTexts: Family = {
  details: ({ attributes }) => {
    const details: Record<string, Schema.Json> = {}
    for (const [name, value] of Object.entries(attributes)) {
      const side = OWN_TEXT.exec(name)?.[1]
      const said = side === undefined ? undefined : jsonOf(value)
      if (said !== undefined) details[`${side}.value`] ??= said
    }
    return Object.keys(details).length === 0 ? undefined : details
  }
}

/** `current_agent_name='lead'` in the text of an event, or as a member of its JSON. */
const CURRENT = /current_?agent_?name["']?\s*[=:]\s*(?:"([^"\n]{1,256})"|'([^'\n]{1,256})'|([\w-]{1,256}))/i
/** Characters after the name that are read. */
const WINDOW = 300

/** The agent that stands only in the structured text of an input. It is a guess: the text may be about another one. */
export const agentInText = (attributes: Attributes): string | undefined => {
  for (const name of ATTRIBUTES.inputValue.names) {
    const value = attributes[name]
    const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)
    const at = text.search(/current_?agent_?name/i)
    const found = at < 0 ? null : CURRENT.exec(text.slice(at, at + WINDOW).replaceAll("\\", ""))
    const agent = found === null ? undefined : nameOf(found[1] ?? found[2] ?? found[3])
    if (agent !== undefined && agent !== "None" && agent !== "null") return agent
  }
  return undefined
}
