import { type CanonicalEvent, sentenceOf } from "@runplane/domain"
import type { Tone } from "../format/Status.ts"

/** The stance of a participant on a proposal, by its last message about it. */
export interface Stance {
  readonly index: number
  readonly ts: string
  readonly kind: "vote" | "opinion" | "objection" | "answer"
  readonly word: string
  readonly tone: Tone
  readonly confidence: number | undefined
  readonly reason: string | undefined
  /** Earlier stances, the oldest first; empty when it did not change. */
  readonly before: ReadonlyArray<string>
}

export interface ProposalRow {
  readonly id: string
  readonly by: string
  readonly index: number
  readonly ts: string
  readonly title: string
  readonly text: string | undefined
  /** By participant. */
  readonly stances: ReadonlyMap<string, Stance>
  readonly votesFor: number
  readonly votesAgainst: number
  readonly abstained: number
}

const KINDS: ReadonlyMap<string, Stance["kind"]> = new Map([
  ["Vote", "vote"],
  ["Approve", "vote"],
  ["Abstain", "vote"],
  ["Evaluation", "opinion"],
  ["Objection", "objection"]
])
const WORDS: ReadonlyMap<string, string> = new Map([
  ["Approve", "APPROVE"],
  ["Abstain", "ABSTAIN"],
  ["Objection", "OBJECTS"],
  ["Accept", "ACCEPT"],
  ["TaskAccept", "ACCEPT"],
  ["HandoffAccept", "ACCEPT"],
  ["Reject", "REJECT"],
  ["TaskReject", "REJECT"],
  ["HandoffDecline", "DECLINE"]
])

/** A vote counts more than a later opinion. */
const WEIGHT: Readonly<Record<Stance["kind"], number>> = { opinion: 0, answer: 1, objection: 1, vote: 2 }

/**
 * The stances on each proposal, the proposals with most votes first. From the events up to any index, so it shows the
 * decision at that index.
 */
export const proposalsOf = (events: Iterable<CanonicalEvent>): ReadonlyArray<ProposalRow> => {
  const rows = new Map<
    string,
    Omit<ProposalRow, "votesFor" | "votesAgainst" | "abstained" | "stances"> & { stances: Map<string, Stance> }
  >()
  for (const event of events) {
    if (event.type === "proposal.created") {
      const { action, proposalId, rationale, sender, summary, task, title } = event.data
      if (rows.has(proposalId)) continue
      rows.set(proposalId, {
        id: proposalId,
        by: sender,
        index: event.index,
        ts: event.ts,
        title: action ?? title ?? (proposalId === "" ? event.data.messageType : proposalId),
        text: rationale ?? summary ?? task?.instructions,
        stances: new Map()
      })
    } else if (event.type === "proposal.updated") {
      const { confidence, messageType, proposalId, reason, recommendation, sender, vote } = event.data
      const row = rows.get(proposalId)
      if (row === undefined) continue
      const kind = KINDS.get(messageType) ?? "answer"
      const word = vote ?? recommendation ?? WORDS.get(messageType) ?? messageType
      const held = row.stances.get(sender)
      if (held !== undefined && WEIGHT[held.kind] > WEIGHT[kind]) continue
      const isOther = held !== undefined && held.kind === kind && held.word !== word
      row.stances.set(sender, {
        index: event.index,
        ts: event.ts,
        kind,
        word,
        tone: sentenceOf(event)?.tone ?? "calm",
        confidence,
        reason,
        before: held !== undefined && isOther ? [...held.before, held.word] : (held?.before ?? [])
      })
    }
  }
  return [...rows.values()]
    .map((row): ProposalRow => {
      const votes = [...row.stances.values()].filter(({ kind }) => kind === "vote")
      return {
        ...row,
        votesFor: votes.filter(({ tone }) => tone === "good").length,
        votesAgainst: votes.filter(({ tone }) => tone === "bad").length,
        abstained: votes.filter(({ tone }) => tone === "calm").length
      }
    })
    .toSorted((one, other) => other.votesFor - one.votesFor || one.index - other.index)
}
