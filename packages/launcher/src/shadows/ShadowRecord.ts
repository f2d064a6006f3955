import {
  decodePayload as decodeEnvelope,
  extractLlmUsage,
  isoTime,
  MAX_SHADOW_ACTS,
  MAX_SHADOW_REASON,
  SHADOW_NOTE,
  type ShadowActs,
  wholeStart
} from "@runplane/domain"
import { decodePayload, type Envelope } from "@runplane/runtime"
import type { ShadowMessage } from "@runplane/sandbox"

/** What a shadow has done, and what became of it. */
export interface ShadowOutcome {
  readonly shadow: string
  readonly as: string
  readonly agent: string
  readonly mode: string
  readonly messages: ReadonlyArray<ShadowMessage>
  readonly signals: ReadonlyArray<Envelope>
  /** Why it failed or was ended; undefined when it ended by itself, or with its session. */
  readonly failure: string | undefined
}

/** Characters of the payloads of one document. */
const MAX_PAYLOADS = 256 * 1_024
/** Characters of an id or a type: longer ones are no acts that the log of a run could name. */
const MAX_ID = 512
const MAX_MODELS = 50

type Act = ShadowActs["acts"][number]
type Refused = ShadowActs["refused"][number]

/** The acts of a shadow as the control plane keeps them, within their bounds. Pure. */
export const shadowActsOf = ({ messages, signals, failure, ...of }: ShadowOutcome): ShadowActs => {
  const acts: Array<Act> = []
  const refused: Array<Refused> = []
  let characters = 0
  let leftOut = 0
  for (const { at, envelope, refusal, shown } of messages) {
    const { messageId, messageType } = envelope
    const seen = { messageType, messageId, at: isoTime(at), shown }
    const isNamed = [messageType, messageId].every((text) => text.length > 0 && text.length <= MAX_ID)
    if (refusal !== undefined) {
      if (isNamed && refused.length < MAX_SHADOW_ACTS) refused.push({ ...seen, ...refusal })
      else leftOut += 1
      continue
    }
    const payload = payloadOf(envelope)
    characters += JSON.stringify(payload).length
    if (isNamed && acts.length < MAX_SHADOW_ACTS && characters <= MAX_PAYLOADS) acts.push({ ...seen, payload })
    else leftOut += 1
  }
  return {
    v: 1,
    ...of,
    status: acts.length > 0 ? "acted" : failure === undefined ? "silent" : "failed",
    ...(failure !== undefined && { reason: wholeStart(failure, MAX_SHADOW_REASON) }),
    acts,
    refused,
    leftOut,
    usage: usageOf(signals),
    note: SHADOW_NOTE
  }
}

const payloadOf = ({ messageType, mode, payload, ...rest }: Envelope) => {
  const raw = { ...rest, messageType, mode, payload, timestampUnixMs: Number(rest.timestampUnixMs) }
  const { macpVersion, messageId, sender, sessionId, timestampUnixMs } = raw
  return decodeEnvelope(decodePayload, {
    macpVersion,
    messageId,
    messageType,
    mode,
    payload,
    sender,
    sessionId,
    timestampUnixMs
  }).payload
}

/** The model calls of signals, by model, in order of first use. */
const usageOf = (signals: ReadonlyArray<Envelope>): ShadowActs["usage"] => {
  const byModel = new Map<string, ShadowActs["usage"][number]>()
  for (const signal of signals) {
    for (const call of extractLlmUsage(signal.messageType, payloadOf(signal))) {
      const model = call.model?.slice(0, MAX_ID) ?? ""
      const so = byModel.get(model)
      if (so === undefined && byModel.size >= MAX_MODELS) continue
      byModel.set(model, {
        ...(model !== "" && { model }),
        calls: (so?.calls ?? 0) + (call.calls ?? 1),
        promptTokens: (so?.promptTokens ?? 0) + call.promptTokens,
        completionTokens: (so?.completionTokens ?? 0) + call.completionTokens,
        totalTokens: (so?.totalTokens ?? 0) + call.totalTokens
      })
    }
  }
  return [...byModel.values()]
}
