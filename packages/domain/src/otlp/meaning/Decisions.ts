import type * as Schema from "effect/Schema"
import { isJsonObject } from "../../values/JsonReader.ts"
import type { JsonObject } from "../../values/PayloadDecoder.ts"
import { jsonOf, nameAt, nameOf, spoken } from "../AttributeValues.ts"
import type { Evaluation, Statement } from "../Meaning.ts"
import type { Attributes, Span } from "../Span.ts"
import { lastTextOf } from "./Messages.ts"

const booleanOf = (value: Schema.Json | undefined): boolean | undefined =>
  value === true || value === "true" ? true : value === false || value === "false" ? false : undefined

/** A member under its plain name, or with `runplane.` before it; of the attributes, else of the body. */
const memberIn = (attributes: Attributes, body: Schema.Json | undefined) => {
  const said = jsonOf(body)
  return (name: string): Schema.Json | undefined =>
    attributes[name] ?? attributes[`runplane.${name}`] ?? (isJsonObject(said) ? said[name] : undefined)
}

/**
 * The statement of an event `runplane.proposal`, `runplane.vote` or `runplane.decision`: none for other events, and
 * none for one without its subject.
 */
export const statementsOf = (
  name: string,
  { at, index }: { readonly at: string; readonly index: number },
  attributes: Attributes,
  body: Schema.Json | undefined
): ReadonlyArray<Statement> => {
  if (!name.startsWith("runplane.")) return []
  const read = memberIn(attributes, body)
  const proposalId = nameOf(read("proposal.id")) ?? nameOf(read("proposalId"))
  const agent = nameOf(read("participant")) ?? nameAt(attributes, "agent")
  const made = (kind: Statement["kind"], payload: JsonObject): ReadonlyArray<Statement> => [
    { kind, index, at, ...(agent !== undefined && { agent }), payload }
  ]
  const reason = spoken(read("reason"))
  const withReason = { ...(reason !== undefined && { reason }) }
  switch (name) {
    case "runplane.proposal": {
      const option = spoken(read("option"))
      const rationale = spoken(read("rationale"))
      if (proposalId === undefined) return []
      return made("proposal", {
        proposal_id: proposalId,
        ...(option !== undefined && { option }),
        ...(rationale !== undefined && { rationale })
      })
    }
    case "runplane.vote": {
      const vote = nameOf(read("vote"))?.toUpperCase()
      if (vote === undefined) return []
      return made("vote", {
        ...(proposalId !== undefined && { proposal_id: proposalId }),
        vote,
        ...withReason,
        ...confidenceOf(read("confidence"))
      })
    }
    case "runplane.decision": {
      const action = nameOf(read("action"))
      const positive = booleanOf(read("positive"))
      if (action === undefined) return []
      return made("decision", {
        action,
        ...(positive !== undefined && { outcome_positive: positive }),
        ...(proposalId !== undefined && { proposal_id: proposalId }),
        ...withReason
      })
    }
    default:
      return []
  }
}

/** Up to 1 a share, above up to 100 a percentage; every other number is left out, and kept as it was stated. */
const confidenceOf = (stated: Schema.Json | undefined): JsonObject => {
  const confidence = numberIn(stated)
  if (confidence === undefined) return {}
  if (confidence >= 0 && confidence <= 1) return { confidence }
  return confidence > 1 && confidence <= 100
    ? { confidence: confidence / 100, confidenceUnit: "percent" }
    : { droppedConfidence: confidence }
}

/** The judgement of an event `gen_ai.evaluation.result`; none for other events. */
export const evaluationsOf = (name: string, index: number, attributes: Attributes): ReadonlyArray<Evaluation> =>
  name === "gen_ai.evaluation.result" ? evaluation(index, attributes, nameOf(attributes["gen_ai.evaluation.name"])) : []

/** The judgement of an EVALUATOR span: its attributes, else the members of its output. */
export const spanEvaluation = ({ attributes, name }: Span): ReadonlyArray<Evaluation> => {
  const output = jsonOf(attributes["output.value"])
  const stated = isJsonObject(output) ? output : {}
  const score = stated["score"] ?? stated["value"] ?? (typeof output === "number" ? output : undefined)
  const label = stated["label"] ?? (typeof output === "string" ? output : undefined)
  return evaluation(
    0,
    {
      ...(score !== undefined && { "gen_ai.evaluation.score.value": score }),
      ...(label !== undefined && { "gen_ai.evaluation.score.label": label }),
      ...(stated["explanation"] !== undefined && { "gen_ai.evaluation.explanation": stated["explanation"] }),
      ...attributes
    },
    nameOf(attributes["gen_ai.evaluation.name"]) ?? nameOf(attributes["eval.name"]) ?? nameOf(name)
  )
}

const evaluation = (index: number, attributes: Attributes, name: string | undefined): ReadonlyArray<Evaluation> => {
  const read = (member: string) => attributes[`gen_ai.evaluation.${member}`]
  const score = read("score.value") ?? read("score")
  const label = nameOf(read("score.label")) ?? nameOf(read("label"))
  const value = numberIn(score) ?? booleanOf(score) ?? label
  if (name === undefined || value === undefined) return []
  const explanation = spoken(read("explanation")) ?? lastTextOf(read("reasoning"))
  const responseId = nameAt(attributes, "responseId")
  return [
    {
      index,
      name,
      value,
      ...(label !== undefined && { label }),
      ...(explanation !== undefined && { explanation }),
      ...(responseId !== undefined && { responseId })
    }
  ]
}

/** A score may be negative. */
const numberIn = (value: Schema.Json | undefined): number | undefined => {
  const number = typeof value === "string" && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
  return typeof number === "number" && Number.isFinite(number) ? number : undefined
}
