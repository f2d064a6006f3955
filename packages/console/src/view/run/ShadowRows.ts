import { type CanonicalEvent, type ShadowAct, type ShadowFact, sumUsd } from "@runplane/domain"
import type { Tone } from "../format/Status.ts"
import type { ProposalRow, Stance } from "./Decision.ts"

/** A shadow of a run, as its log has it. */
export interface RunShadow {
  readonly fact: ShadowFact
  /** Of the event. */
  readonly index: number
  readonly artifactId: string
  /** Of its model calls; undefined where the log has none. */
  readonly spent: { readonly calls: number; readonly totalTokens: number; readonly costUsd: number } | undefined
}

/** The last act of a shadow of one kind on a subject. */
export interface ShadowStance {
  readonly kind: Stance["kind"]
  readonly word: string
  readonly tone: Tone
  readonly confidence: number | undefined
  readonly reason: string | undefined
}

/** What both did about one subject. */
export interface ShadowRow {
  readonly id: string
  readonly title: string
  readonly participant: Stance | undefined
  readonly shadow: ShadowStance | undefined
  /** Undefined unless both have voted. */
  readonly isOther: boolean | undefined
}

/** The shadows of a run, in the order of their events. The first acts of a shadow count. */
export const shadowsOf = (events: Iterable<CanonicalEvent>): ReadonlyArray<RunShadow> => {
  const found = new Map<string, Omit<RunShadow, "spent">>()
  const spent = new Map<string, NonNullable<RunShadow["spent"]>>()
  for (const event of events) {
    if (event.type === "artifact.created") {
      const { artifactId, shadow: fact } = event.data
      if (fact !== undefined && !found.has(fact.shadow)) {
        found.set(fact.shadow, { fact, index: event.index, artifactId })
      }
    } else if (event.type === "llm.call.completed" && event.data.shadow !== undefined) {
      const { sender, shadow } = event.data
      const so = spent.get(sender)
      spent.set(sender, {
        calls: (so?.calls ?? 0) + shadow.calls,
        totalTokens: (so?.totalTokens ?? 0) + shadow.totalTokens,
        costUsd: sumUsd([so?.costUsd ?? 0, shadow.estimatedCostUsd ?? 0])
      })
    }
  }
  return Array.from(found.values(), (one) => ({ ...one, spent: spent.get(one.fact.shadow) }))
}

const VOTES: ReadonlyMap<string, string> = new Map([
  ["Approve", "APPROVE"],
  ["Reject", "REJECT"],
  ["Abstain", "ABSTAIN"]
])
const GOOD = new Set(["APPROVE", "ACCEPT"])
const BAD = new Set(["REJECT", "BLOCK", "OBJECTS", "DECLINE"])

const stanceOf = (act: ShadowAct, reason: string | undefined): ShadowStance => {
  const { confidence, recommendation, type, vote } = act
  const ballot = type === "Vote" ? vote : VOTES.get(type)
  const isObjection = type === "Objection"
  const word = ballot ?? recommendation ?? (isObjection ? "OBJECTS" : type)
  return {
    kind:
      ballot !== undefined ? "vote" : isObjection ? "objection" : recommendation !== undefined ? "opinion" : "answer",
    word,
    tone: GOOD.has(word) ? "good" : BAD.has(word) ? "bad" : "calm",
    confidence,
    reason
  }
}

const WEIGHT: Readonly<Record<Stance["kind"], number>> = { opinion: 0, answer: 1, objection: 1, vote: 2 }

/** The last stance of the shadow on a subject; a vote counts more than a later opinion. */
const lastStance = (
  subject: string,
  acts: ReadonlyArray<ShadowAct>,
  reasons: ReadonlyArray<string | undefined>
): ShadowStance | undefined => {
  let held: ShadowStance | undefined
  for (const [at, act] of acts.entries()) {
    if (act.subject !== subject) continue
    const next = stanceOf(act, reasons[at])
    if (held === undefined || WEIGHT[next.kind] >= WEIGHT[held.kind]) held = next
  }
  return held
}

/** What the shadow and its participant did about each proposal. `reasons` are by the index of the act. */
export const shadowRows = (
  { acts, as }: ShadowFact,
  proposals: ReadonlyArray<ProposalRow>,
  reasons: ReadonlyArray<string | undefined> = []
): ReadonlyArray<ShadowRow> =>
  proposals.flatMap(({ id, stances, title }): ReadonlyArray<ShadowRow> => {
    const participant = stances.get(as)
    const shadow = lastStance(id, acts, reasons)
    if (participant === undefined && shadow === undefined) return []
    const isOther =
      participant?.kind === "vote" && shadow?.kind === "vote" ? participant.word !== shadow.word : undefined
    return [{ id, title, participant, shadow, isOther }]
  })

const STATUSES: Readonly<Record<ShadowFact["status"], string>> = {
  acted: "acted",
  silent: "ended without an act",
  failed: "failed"
}

export const shadowStatus = ({ status }: Pick<ShadowFact, "status">): string => STATUSES[status]
