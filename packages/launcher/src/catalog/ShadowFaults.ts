import { isOneLine, shadowName } from "@runplane/domain"
import * as Schema from "effect/Schema"
import type { LaunchBlock } from "./PackDocuments.ts"
import type { PackFault } from "./PackFault.ts"

/** Shadows of one launch: each is a process, and a server. */
export const MAX_SHADOWS = 8

/** What the catalog of agents says; undefined where it is not known. */
export interface KnownAgents {
  readonly knows: ((agentRef: string) => boolean) | undefined
  readonly isPerson: ((agentRef: string) => boolean) | undefined
}

const isOneLineText = Schema.is(Schema.String.check(isOneLine))

/** What is wrong with the shadows of a launch (docs/reference/shadows.md#scenario). Pure. */
export const shadowFaults = (
  { kickoffTemplate, initiatorParticipantId, participants, people = {}, shadows = [] }: LaunchBlock,
  { isPerson, knows }: KnownAgents,
  block: ReadonlyArray<string>
): ReadonlyArray<PackFault> => {
  const faults: Array<PackFault> = []
  const agents = new Map(participants.map(({ agentRef, id }) => [id, agentRef]))
  const from = kickoffTemplate?.[0]?.["from"]
  const initiator = initiatorParticipantId ?? (typeof from === "string" ? from : undefined) ?? participants[0]?.id
  const say = (index: number, key: "as" | "agent", message: string) =>
    faults.push({
      level: "error",
      at: [...block, "shadows", `${index}`, key],
      message: `shadows.${index}.${key} ${message}`
    })
  if (shadows.length > MAX_SHADOWS) {
    const message = `shadows has ${shadows.length} entries: a launch has at most ${MAX_SHADOWS}`
    faults.push({ level: "error", at: [...block, "shadows"], message })
  }
  const names = new Set<string>()
  for (const [index, { agent, as }] of shadows.entries()) {
    const own = agents.get(as)
    const name = shadowName(as, agent)
    if (own === undefined) {
      say(index, "as", `"${as}" is not a participant; name one of: ${[...agents.keys()].join(", ")}`)
    } else if (as === initiator) {
      say(index, "as", `"${as}" opens the session: its messages cannot be left out for a shadow`)
    } else if (Object.hasOwn(people, as) || isPerson?.(own) === true) {
      say(index, "as", `"${as}" is a person: an agent is tried beside an agent`)
    }
    if (!isOneLineText(agent)) {
      say(index, "agent", "must be one line without control, direction and zero-width characters")
    } else if (knows?.(agent) === false) {
      say(index, "agent", `"${agent}" is not an agent of the catalog`)
    } else if (isPerson?.(agent) === true) {
      say(index, "agent", `"${agent}" is a person: name an agent with a process`)
    }
    if (names.has(name))
      say(index, "agent", `"${agent}" is already a shadow of "${as}": name another agent, or remove it`)
    if (agents.has(name))
      say(index, "as", `"${as}" makes the name ${name}, which a participant has: rename that participant`)
    names.add(name)
  }
  return faults
}
