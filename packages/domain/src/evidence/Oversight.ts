import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import type { ActivePolicy } from "../insight/ActivePolicy.ts"
import { ballotOf } from "../insight/Ballots.ts"
import type { Deliberation } from "../insight/Deliberation.ts"
import { mayCommit } from "../policies/Evaluation.ts"
import { boundProse } from "../values/Bounds.ts"

/** Ballots and interventions that are listed, the first ones. */
const MAX_BALLOTS = 5_000
const MAX_INTERVENTIONS = 1_000

/** A suspension, a resume or a cancellation of the session, as the runtime reported it. */
export interface Intervention {
  readonly kind: "suspended" | "resumed" | "cancelled"
  readonly index: number
  readonly at: string
  readonly reason?: string
  /** Of a resume: how long the suspension lasted, milliseconds. */
  readonly suspendedMs?: number
}

/** One ballot, with the time that its sender took. */
export interface TimedBallot {
  readonly index: number
  readonly at: string
  readonly proposalId: string
  readonly vote: string
  /** From the proposal to this ballot, milliseconds; absent without a proposal on record. */
  readonly msAfterProposal?: number
  /** Why it does not count; absent for one that counts. */
  readonly notCounted?: string
}

/** A participant: what it could do, and did. */
export interface Overseer {
  readonly id: string
  /** Whether the policy lets it commit; null where its rules are not known. */
  readonly mayCommit: boolean | null
  readonly acts: number
  readonly firstActAt: string | null
  readonly lastActAt: string | null
  readonly ballots: ReadonlyArray<TimedBallot>
}

/** A decision that went against an earlier one, or against its own votes. */
export interface Override {
  readonly kind: "against-votes" | "supersedes" | "changed-ballot"
  readonly index: number
  readonly at: string
  readonly by: string
  readonly text: string
}

/** Who could act on a decision, who did, and how long it took. */
export interface Oversight {
  readonly initiator: string | null
  /** Who opened the session, and when; null before that. */
  readonly openedAt: string | null
  readonly authority: string | null
  readonly participants: ReadonlyArray<Overseer>
  /** Declared participants without any act. */
  readonly silent: ReadonlyArray<string>
  readonly ballotsOmitted: number
  readonly commitment: {
    readonly index: number
    readonly at: string
    readonly by: string
    readonly action: string
    readonly positive: boolean | null
    /** Milliseconds from the opening, and from the last ballot that counts; null where one of the two is not known. */
    readonly msAfterOpening: number | null
    readonly msAfterLastBallot: number | null
  } | null
  readonly overrides: ReadonlyArray<Override>
  /** Messages that the policy refused. */
  readonly refusals: number
  readonly interventions: ReadonlyArray<Intervention>
}

export interface OversightReader {
  readonly take: (event: CanonicalEvent) => void
  /** `isAgainstVotes` is that of the reasons of the decision. */
  readonly read: (run: Deliberation, by: ActivePolicy, isAgainstVotes: boolean) => Oversight
}

/** Reads who could act and who did from the events of a run, in order. */
export const oversightReader = (): OversightReader => {
  const interventions: Array<Intervention> = []
  const superseded: Array<Override> = []
  let openedAt: string | undefined
  let suspendedAt: string | undefined
  const intervene = (kind: Intervention["kind"], { index, ts }: CanonicalEvent, reason: string | undefined) => {
    const since = kind === "resumed" ? suspendedAt : undefined
    suspendedAt = kind === "suspended" ? ts : undefined
    if (interventions.length >= MAX_INTERVENTIONS) return
    interventions.push({
      ...{ kind, index, at: ts },
      ...(reason !== undefined && { reason: boundProse(reason) }),
      ...(since !== undefined && { suspendedMs: Date.parse(ts) - Date.parse(since) })
    })
  }
  return {
    take: (event) => {
      switch (event.type) {
        case "session.bound":
          openedAt ??= event.ts
          return
        case "run.suspended":
          return intervene("suspended", event, event.data.reason)
        case "run.resumed":
          return intervene("resumed", event, event.data.reason)
        case "run.cancelled":
          return intervene("cancelled", event, event.data.reason)
        case "decision.finalized": {
          const { sender, supersedes } = event.data
          if (supersedes === undefined || superseded.length >= MAX_INTERVENTIONS) return
          const text = `replaces the decision of session ${supersedes.sessionId}`
          superseded.push({ kind: "supersedes", index: event.index, at: event.ts, by: sender, text })
          return
        }
      }
    },
    read: (run, by, isAgainstVotes) => {
      const { acts, commitment, denials, initiator } = run
      const terms = by.sessionRules?.terms
      const proposed = new Map<string, string>()
      for (const { proposalId, ts, type } of acts) {
        if ((type === "Proposal" || type === "ApprovalRequest") && !proposed.has(proposalId))
          proposed.set(proposalId, ts)
      }
      const ballots = new Map<string, Array<TimedBallot>>()
      const overrides = [...superseded]
      let listed = 0
      let ballotsOmitted = 0
      let lastBallotAt: string | undefined
      for (const act of acts) {
        const vote = ballotOf(act)
        if (vote === undefined) continue
        if (act.skipped === undefined) lastBallotAt = act.ts
        if (act.skipped === "changed later" && overrides.length < MAX_INTERVENTIONS) {
          const text = `the ballot ${vote} was replaced by a later one`
          overrides.push({ kind: "changed-ballot", index: act.index, at: act.ts, by: act.by, text })
        }
        if (listed >= MAX_BALLOTS) {
          ballotsOmitted += 1
          continue
        }
        listed += 1
        const since = proposed.get(act.proposalId)
        const cast = ballots.get(act.by) ?? []
        ballots.set(act.by, cast)
        cast.push({
          ...{ index: act.index, at: act.ts, proposalId: act.proposalId, vote },
          ...(since !== undefined && { msAfterProposal: Date.parse(act.ts) - Date.parse(since) }),
          ...(act.skipped !== undefined && { notCounted: act.skipped })
        })
      }
      if (commitment !== undefined && isAgainstVotes) {
        const text = `committed ${commitment.action} against the votes on its proposal`
        overrides.push({ kind: "against-votes", index: commitment.index, at: commitment.ts, by: commitment.by, text })
      }
      const ids = [...new Set([...(initiator === "" ? [] : [initiator]), ...run.participants])]
      const actsOf = Map.groupBy(acts, (act) => act.by)
      const participants = ids.map((id): Overseer => {
        const own = actsOf.get(id) ?? []
        const commits = commitment?.by === id ? 1 : 0
        return {
          id,
          mayCommit: terms === undefined ? null : mayCommit(id, terms),
          acts: own.length + commits,
          firstActAt: own[0]?.ts ?? (commits === 1 ? (commitment?.ts ?? null) : null),
          lastActAt: (commits === 1 ? commitment?.ts : own.at(-1)?.ts) ?? null,
          ballots: ballots.get(id) ?? []
        }
      })
      return {
        initiator: initiator === "" ? null : initiator,
        openedAt: openedAt ?? null,
        authority: terms?.policy.rules.commitment.authority ?? null,
        participants,
        silent: participants.filter(({ acts: count }) => count === 0).map(({ id }) => id),
        ballotsOmitted,
        commitment:
          commitment === undefined
            ? null
            : {
                ...{ index: commitment.index, at: commitment.ts, by: commitment.by },
                ...{ action: commitment.action, positive: commitment.positive },
                msAfterOpening: msBetween(openedAt, commitment.ts),
                msAfterLastBallot: msBetween(lastBallotAt, commitment.ts)
              },
        overrides: overrides.toSorted((left, right) => left.index - right.index),
        refusals: denials.length,
        interventions
      }
    }
  }
}

const msBetween = (from: string | undefined, to: string): number | null =>
  from === undefined ? null : Date.parse(to) - Date.parse(from)
