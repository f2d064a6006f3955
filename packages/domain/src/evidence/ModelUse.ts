import * as Hex from "effect/encoding/Hex"
import type * as Schema from "effect/Schema"
import type { CanonicalEvent, EventOf } from "../events/CanonicalEvent.ts"
import { addUsage, noUsage, type UsageSums } from "../projector/UsageSums.ts"
import { boundName } from "../values/Bounds.ts"
import { canonicalJson } from "../values/CanonicalJson.ts"
import { objectAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import type { Sha256 } from "../values/Sha256.ts"

/** Calls, models and participants that are listed, the first ones. */
const MAX_CALLS = 5_000
const MAX_MODELS = 200
const MAX_PARTICIPANTS = 1_000

/** One call of a language model, by what its price and its content were. */
export interface ModelCall {
  readonly index: number
  readonly at: string
  readonly participantId: string
  readonly model: string | null
  readonly provider: string | null
  /**
   * SHA-256 of the prompt and of the answer, hexadecimal: of a text its UTF-8, else of its canonical JSON. Absent where
   * the event has none.
   */
  readonly promptSha256?: string
  readonly responseSha256?: string
  readonly artifactId?: string
  readonly costUsd?: number
  readonly costBasis?: string
  readonly priceKey?: string
  readonly costDoubt?: string
}

/** The calls of one model. */
export interface ModelUse extends UsageSums {
  readonly model: string | null
  readonly provider: string | null
  readonly participants: ReadonlyArray<string>
  readonly calls: number
}

/** The models of a run, what they cost by which prices, and the hashes of their prompts. */
export interface ModelReport {
  readonly models: ReadonlyArray<ModelUse>
  readonly calls: ReadonlyArray<ModelCall>
  /** Calls after the listed ones; in the sums. */
  readonly callsOmitted: number
  /** Calls of models after the listed ones, in no sum; 0 unless a run has very many models. */
  readonly callsOfFurtherModels: number
}

export interface ModelReader {
  readonly take: (event: CanonicalEvent) => void
  readonly read: () => ModelReport
}

/** Reads the calls of models from the events of a run, in order. */
export const modelReader = (sha256: Sha256): ModelReader => {
  const models = new Map<string, { use: Omit<ModelUse, "participants">; participants: Set<string> }>()
  const calls: Array<ModelCall> = []
  let callsOmitted = 0
  let callsOfFurtherModels = 0
  return {
    take: (event) => {
      if (event.type !== "llm.call.completed") return
      if (calls.length < MAX_CALLS) calls.push(callOf(sha256, event))
      else callsOmitted += 1
      const { data } = event
      const model = nameOf(data.model)
      const provider = nameOf(data.provider)
      const key = JSON.stringify([model, provider])
      const known = models.get(key)
      if (known === undefined && models.size >= MAX_MODELS) {
        callsOfFurtherModels += data.calls
        return
      }
      const { participants, use } = known ?? { use: { model, provider, calls: 0, ...noUsage }, participants: new Set() }
      if (participants.size < MAX_PARTICIPANTS) participants.add(data.sender)
      models.set(key, {
        use: { ...use, ...addUsage(use, data), calls: use.calls + data.calls },
        participants
      })
    },
    read: () => ({
      models: [...models.values()].map(({ participants, use }) => ({ ...use, participants: [...participants] })),
      calls,
      callsOmitted,
      callsOfFurtherModels
    })
  }
}

const nameOf = (name: string | undefined) => (name === undefined || name === "" ? null : boundName(name))

const utf8 = new TextEncoder()

/** An erased text is empty, and an erased value is null. */
const isAbsent = (content: Schema.Json | undefined): content is undefined | null | "" =>
  content === undefined || content === null || content === ""

/** Whether the data of a model call has its prompt, so that there is a hash of it. */
export const hasPrompt = (data: JsonObject): boolean => !isAbsent(objectAt(data, "decodedPayload")?.["prompt"])

const hashOf = (sha256: Sha256, content: Schema.Json | undefined): string | undefined => {
  if (isAbsent(content)) return undefined
  return Hex.encode(sha256(utf8.encode(typeof content === "string" ? content : canonicalJson(content))))
}

const callOf = (sha256: Sha256, { data, index, recorded, ts }: EventOf<"llm.call.completed">): ModelCall => {
  const payload = objectAt(recorded.data, "decodedPayload") ?? {}
  const promptSha256 = hashOf(sha256, payload["prompt"])
  const responseSha256 = hashOf(sha256, payload["response"])
  const { artifactId, costBasis, costDoubt, estimatedCostUsd: costUsd, priceKey } = data
  return {
    ...{ index, at: ts, participantId: data.sender, model: nameOf(data.model), provider: nameOf(data.provider) },
    ...(promptSha256 !== undefined && { promptSha256 }),
    ...(responseSha256 !== undefined && { responseSha256 }),
    ...(artifactId !== undefined && { artifactId: boundName(artifactId) }),
    ...(costUsd !== undefined && { costUsd }),
    ...(costBasis !== undefined && { costBasis: boundName(costBasis) }),
    ...(priceKey !== undefined && { priceKey: boundName(priceKey) }),
    ...(costDoubt !== undefined && { costDoubt: boundName(costDoubt) })
  }
}
