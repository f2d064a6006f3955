import { type CanonicalEvent, type EventOf, isJsonObject, REDACTED, sumUsd } from "@runplane/domain"
import { type Call, isGuess } from "../format/Cost.ts"

/** Prompt and response of a call of a language model, as far as the agent reported them. */
export interface Conversation {
  readonly prompt: string | undefined
  readonly response: string | undefined
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null
    ? undefined
    : typeof value === "string"
      ? value
      : JSON.stringify(value, undefined, 2)

export const conversationOf = ({ recorded }: EventOf<"llm.call.completed">): Conversation => {
  const payload = recorded.data["decodedPayload"]
  const { prompt, response } = isJsonObject(payload) ? payload : {}
  return { prompt: textOf(prompt), response: textOf(response) }
}

/** Whether the event reports a call of a language model. */
export const isLlmCall = (event: CanonicalEvent | undefined): event is EventOf<"llm.call.completed"> =>
  event?.type === "llm.call.completed"

/** A piece of a text: as it is, or where something was taken out. */
export interface Piece {
  readonly text: string
  readonly isRedacted: boolean
}

/** A text in pieces, so that what was redacted can be marked. */
export const redactedPieces = (text: string): ReadonlyArray<Piece> =>
  text
    .split(REDACTED)
    .flatMap((piece, at) => [
      ...(at === 0 ? [] : [{ text: REDACTED, isRedacted: true }]),
      ...(piece === "" ? [] : [{ text: piece, isRedacted: false }])
    ])

/** Tokens of some neighbouring calls, by participant. */
export interface Column {
  readonly from: number
  readonly to: number
  readonly tokens: ReadonlyArray<readonly [who: string, tokens: number]>
  readonly total: number
  /** Spent up to its end, US dollars. */
  readonly costUsd: number
  /** Part of it that is a guess. */
  readonly guessedCostUsd: number
  /** The longest latency, milliseconds; undefined when not reported. */
  readonly latencyMs: number | undefined
}

/** The calls in order as at most `most` columns. */
export const columnsOf = (calls: ReadonlyArray<Call>, most: number): ReadonlyArray<Column> => {
  const size = Math.max(1, Math.ceil(calls.length / most))
  const columns: Array<Column> = []
  let costUsd = 0
  let guessedCostUsd = 0
  for (let start = 0; start < calls.length; start += size) {
    const part = calls.slice(start, start + size)
    const tokens = new Map<string, number>()
    let latencyMs: number | undefined
    for (const { data } of part) {
      const { estimatedCostUsd = 0, sender } = data
      tokens.set(sender, (tokens.get(sender) ?? 0) + data.totalTokens)
      costUsd = sumUsd([costUsd, estimatedCostUsd])
      if (isGuess(data)) guessedCostUsd = sumUsd([guessedCostUsd, estimatedCostUsd])
      if (data.latencyMs !== undefined) latencyMs = Math.max(latencyMs ?? 0, data.latencyMs)
    }
    const total = [...tokens.values()].reduce((sum, count) => sum + count, 0)
    const [first, last] = [part[0], part.at(-1)]
    const range = { from: first?.index ?? 0, to: last?.index ?? 0 }
    columns.push({ ...range, tokens: [...tokens], total, costUsd, guessedCostUsd, latencyMs })
  }
  return columns
}
