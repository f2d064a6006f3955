import * as Schema from "effect/Schema"
import { MAX_SHADOW_ACTS, SHADOW_STATUSES, type ShadowAct, type ShadowFact, shadowName } from "../events/ShadowFact.ts"
import { boundedText, timeText } from "../people/ArtifactTexts.ts"
import { numberAt, textAt } from "../values/JsonReader.ts"

const optional = Schema.optionalKey
const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Models whose use is listed, the first ones. */
const MAX_MODELS = 50
/** Characters of a reason. */
export const MAX_SHADOW_REASON = 4_000
const reason = Schema.String.check(Schema.isMaxLength(MAX_SHADOW_REASON))

/** What a reader of the acts has to know. */
export const SHADOW_NOTE =
  "The shadow saw the session without the messages of the participant, until it had acted on the same subject. What others sent after an act of the participant answered the participant, not the shadow."

const SeenAct = Schema.Struct({
  messageType: boundedText,
  messageId: boundedText,
  at: timeText,
  /** Accepted messages of the session that the shadow had been shown. */
  shown: count
})

/** The acts of one shadow in one session, as the launch service adds them to the run at its end. */
export const ShadowActs = Schema.Struct({
  v: Schema.Literal(1),
  /** `<as>~<agent>` */
  shadow: boundedText,
  as: boundedText,
  agent: boundedText,
  mode: boundedText,
  status: Schema.Literals(SHADOW_STATUSES),
  /** Why it failed, or was ended. */
  reason: optional(reason),
  /** Accepted by the rules of the mode, in their order. */
  acts: Schema.Array(Schema.Struct({ ...SeenAct.fields, payload: Schema.JsonObject })).check(
    Schema.isMaxLength(MAX_SHADOW_ACTS)
  ),
  /** Refused by the rules of the mode. */
  refused: Schema.Array(Schema.Struct({ ...SeenAct.fields, code: boundedText, reason })).check(
    Schema.isMaxLength(MAX_SHADOW_ACTS)
  ),
  /** Acts and refusals beyond the bounds of this document. */
  leftOut: count,
  /** Model calls that the shadow reported in signals, by model. Those of its spans are in the log of the run. */
  usage: Schema.Array(
    Schema.Struct({
      model: optional(boundedText),
      calls: count,
      promptTokens: count,
      completionTokens: count,
      totalTokens: count
    })
  ).check(Schema.isMaxLength(MAX_MODELS)),
  note: reason
})
  .check(
    Schema.makeFilter(({ agent, as, shadow }) =>
      shadow === shadowName(as, agent)
        ? undefined
        : { path: ["shadow"], issue: `the name of the shadow is ${shadowName(as, agent)}` }
    )
  )
  .annotate({ identifier: "ShadowActs", description: "What an agent did that was tried beside a participant" })
export type ShadowActs = typeof ShadowActs.Type

/** What the event of the artifact says: its content without free text. */
export const shadowFactOf = ({ acts, agent, as, shadow, status }: ShadowActs): ShadowFact => ({
  shadow,
  as,
  agent,
  status,
  acts: acts.map(({ messageType: type, payload }): ShadowAct => {
    const [vote, recommendation, severity] = ["vote", "recommendation", "severity"].map((name) => textAt(payload, name))
    const confidence = numberAt(payload, "confidence")
    return {
      type,
      subject: textAt(payload, "proposalId", "requestId", "taskId", "handoffId") ?? "",
      ...(vote !== undefined && { vote }),
      ...(recommendation !== undefined && { recommendation }),
      ...(severity !== undefined && { severity }),
      ...(confidence !== undefined && { confidence })
    }
  })
})
