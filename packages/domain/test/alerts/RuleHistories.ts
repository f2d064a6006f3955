import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { type CanonicalEvent, draftEvent, RunId, recordEvent } from "../../src/index.ts"

export const RUNS = ["5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10", "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a11"] as const

const KINDS = [
  ...(["message", "call", "tool", "denial", "vote", "decided", "receipt", "question"] as const),
  ...(["started", "suspended", "resumed", "end", "corrected"] as const)
] as const

/** An event of a history: its kind, its run, the time after the event before it, and a number for its content. */
export type Drawn = readonly [kind: (typeof KINDS)[number], run: number, afterMs: number, size: number]

/** How late some calls arrive, by their size. */
const LATE_MS: Readonly<Record<number, number>> = { 6: 90_000, 7: 1_200_000, 8: 10_800_000, 9: 172_800_000 }
const spanOf = (at: number) => ({ startedAt: new Date(at - 1_000).toISOString(), endedAt: new Date(at).toISOString() })

export const eventOf = ([kind, run, , size]: Drawn, at: number, seq: number): CanonicalEvent => {
  const sender = size % 2 === 0 ? "ann" : "bob"
  const ts = new Date(at).toISOString()
  const made = (type: Parameters<typeof draftEvent>[0], data: object) =>
    recordEvent(
      draftEvent(
        type,
        { ts, subject: { kind: "message", id: `m${seq}` }, source: { kind: "runtime", name: "rust", rawType: type } },
        { sender, messageId: `m${seq}`, ...data }
      ),
      { id: `e${seq}`, runId: RunId.make(RUNS[run % 2] ?? ""), seq, index: seq }
    )
  switch (kind) {
    case "message":
      return made("message.received", {
        messageType: "Say",
        decodedPayload: { text: String(size % 3), messageId: seq }
      })
    case "call":
      return made("llm.call.completed", {
        ...spanOf(at - (LATE_MS[size] ?? 0)),
        decodedPayload: {
          ...{ promptTokens: size, completionTokens: 1, model: "m", estimatedCostUsd: size / 10 },
          ...(size % 2 === 0 && { costBasis: "fallback" })
        }
      })
    case "tool":
      return made("tool.called", { ...spanOf(at - (LATE_MS[size] ?? 0)), decodedPayload: { toolName: "t" } })
    case "receipt":
      return made("artifact.created", {
        kind: "receipt",
        receipt: { verified: size % 2 === 0, signed: true, ...(size % 2 !== 0 && { reason: "it disagrees" }) }
      })
    case "question":
      return made("artifact.created", {
        kind: "people.item",
        item: {
          item: "i1",
          event: "closed",
          seat: "officer",
          state: "expired",
          unanswered: size % 2 === 0,
          hash: "1a2b"
        }
      })
    case "corrected":
      return made("run.corrected", { status: size % 2 === 0 ? "completed" : "failed" })
    case "denial":
      return made("policy.denied", {})
    case "vote":
      return made("proposal.updated", {
        messageType: "Vote",
        decodedPayload: { proposalId: "p", vote: size % 3 === 0 ? "APPROVE" : "REJECT" }
      })
    case "decided":
      return made("decision.finalized", { decodedPayload: { action: `a${size % 2}`, outcomePositive: size % 3 === 0 } })
    case "end":
      return made(size % 2 === 0 ? "run.completed" : "run.failed", {})
    default:
      return made(`run.${kind}`, {})
  }
}

export const oneOf = <const A extends ReadonlyArray<string>>(...values: A) => Arbitrary.schema(Schema.Literals(values))
export const upTo = (maximum: number, minimum = 0) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

export const drawn = Arbitrary.array(
  Arbitrary.map(
    Arbitrary.all([oneOf(...KINDS), upTo(1), upTo(8_000_000), upTo(9)]),
    // Most events follow each other within a minute.
    ([kind, run, afterMs, size]): Drawn => [kind, run, size < 7 ? afterMs % 60_000 : afterMs, size]
  ),
  { maxLength: 60 }
)
