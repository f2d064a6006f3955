import * as Schema from "effect/Schema"
import { isJsonObject, numberAt, objectAt, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

/** The kind of the artifact with the acts of a shadow. */
export const SHADOW_ACTS = "shadow.acts"

/** Between the participant and the agent in the name of a shadow. */
const BETWEEN = "~"

/** The name of a shadow wherever votes are counted: `risk-officer~risk-agent-2`. */
export const shadowName = (as: string, agent: string): string => `${as}${BETWEEN}${agent}`

const optional = Schema.optionalKey

/** Acts of a shadow that its event has, the first ones. */
export const MAX_SHADOW_ACTS = 200

/** What became of a shadow: it acted, its process ran without an act, or something kept it from acting. */
export const SHADOW_STATUSES = ["acted", "silent", "failed"] as const

/** An accepted act of a shadow, without its free text. */
export const ShadowAct = Schema.Struct({
  type: Schema.String,
  /** The proposal or request that it is about. */
  subject: Schema.String,
  /** APPROVE, REJECT or ABSTAIN; only of a vote. */
  vote: optional(Schema.String),
  recommendation: optional(Schema.String),
  confidence: optional(Schema.Finite),
  severity: optional(Schema.String)
})
export type ShadowAct = typeof ShadowAct.Type

/** What an event says of a shadow: the agent that was tried beside a participant, and what it would have done. */
export const ShadowFact = Schema.Struct({
  /** `<as>~<agent>` */
  shadow: Schema.String,
  as: Schema.String,
  agent: Schema.String,
  status: Schema.Literals(SHADOW_STATUSES),
  acts: Schema.Array(ShadowAct)
})
export type ShadowFact = typeof ShadowFact.Type

const MAX_TEXT = 512
const bound = (text: string | undefined): string | undefined => text?.slice(0, MAX_TEXT)

/** The shadow in the data of an artifact's event; undefined when there is none. Total over any JSON. */
export const shadowFactIn = (data: JsonObject): ShadowFact | undefined => {
  const found = data["kind"] === SHADOW_ACTS ? objectAt(data, "shadow") : undefined
  if (found === undefined) return undefined
  const [shadow, as, agent] = [textAt(found, "shadow"), textAt(found, "as"), textAt(found, "agent")].map(bound)
  const status = SHADOW_STATUSES.find((one) => one === textAt(found, "status"))
  if (shadow === undefined || as === undefined || agent === undefined || status === undefined) return undefined
  const { acts } = found
  return { shadow, as, agent, status, acts: Array.isArray(acts) ? acts.slice(0, MAX_SHADOW_ACTS).flatMap(actIn) : [] }
}

const actIn = (value: Schema.Json): ReadonlyArray<ShadowAct> => {
  if (!isJsonObject(value)) return []
  const text = (name: string) => bound(textAt(value, name))
  const type = text("type")
  if (type === undefined) return []
  const [vote, recommendation, severity] = [text("vote"), text("recommendation"), text("severity")]
  const confidence = numberAt(value, "confidence")
  return [
    {
      type,
      subject: text("subject") ?? "",
      ...(vote !== undefined && { vote }),
      ...(recommendation !== undefined && { recommendation }),
      ...(severity !== undefined && { severity }),
      ...(confidence !== undefined && { confidence })
    }
  ]
}

/** What a model call of a shadow used. */
export const ShadowUsage = Schema.Struct({
  calls: Schema.Int,
  totalTokens: Schema.Finite,
  estimatedCostUsd: optional(Schema.Finite)
})
export type ShadowUsage = typeof ShadowUsage.Type

/** The usage of a shadow in the data of a model call; undefined for any other call. Total over any JSON. */
export const shadowUsageIn = (data: JsonObject): ShadowUsage | undefined => {
  const found = objectAt(data, "shadow")
  if (found === undefined) return undefined
  const [calls, totalTokens, estimatedCostUsd] = ["calls", "totalTokens", "estimatedCostUsd"].map((name) =>
    numberAt(found, name)
  )
  return {
    calls: Number.isInteger(calls) ? (calls ?? 0) : 0,
    totalTokens: totalTokens ?? 0,
    ...(estimatedCostUsd !== undefined && { estimatedCostUsd })
  }
}
