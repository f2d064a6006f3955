import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf"
import {
  CommitmentPayloadSchema,
  DecisionMode,
  HandoffMode,
  MultiRoundMode,
  ProposalMode,
  QuorumMode,
  TaskMode
} from "@runplane/runtime"
import type { Dice } from "./Dice.ts"

export const LEAD = "agent://lead"
export const RISK = "agent://risk"
export const OPS = "agent://ops"
export const PARTICIPANTS: ReadonlyArray<string> = [LEAD, RISK, OPS]

export type Step =
  | { readonly kind: "say"; readonly sender: string; readonly messageType: string; readonly payload: Bytes }
  /** A signal about the session, under the id that the session's next message has as well: they are independent. */
  | { readonly kind: "signal"; readonly sender: string }
  | { readonly kind: "suspend" | "resume" | "compact" }
  | { readonly kind: "pause"; readonly ms: number }
  /** Waits until the run has an event of the type, or has ended without. */
  | { readonly kind: "seen"; readonly type: string }

export type Ending = "RESOLVED" | "CANCELLED" | "EXPIRED"

/** A session from its start to its end, as its agents play it. */
export interface SessionScript {
  readonly mode: string
  readonly ttlMs: number
  readonly steps: ReadonlyArray<Step>
  readonly ending: Ending
  /** Whether the run is posted before the session begins, or after it has ended. */
  readonly posted: "before" | "after"
}

type Bytes = Uint8Array<ArrayBuffer>

/** The run observes the session. */
export const ATTACHED: Step = { kind: "seen", type: "session.stream.opened" }

/** Long enough never to pass in a test, and short enough to be waited for. Milliseconds. */
const LONG_TTL_MS = 600_000
const SHORT_TTL_MS = 700

const say =
  <Desc extends DescMessage>(messageType: string, schema: Desc) =>
  (sender: string, init: MessageInitShape<Desc>): Step => ({
    kind: "say",
    sender,
    messageType,
    payload: toBinary(schema, create(schema, init))
  })

const commit = (sender: string, action: string): Step =>
  say("Commitment", CommitmentPayloadSchema)(sender, {
    commitmentId: "c1",
    action,
    authorityScope: "test",
    reason: "as the script says",
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    policyVersion: "policy.default",
    outcomePositive: true
  })

const times = (count: number, step: (number: number) => Step): ReadonlyArray<Step> =>
  Array.from({ length: count }, (_, index) => step(index))

/** The messages of one accepted session of each mode, some of any length. */
const plays: Readonly<Record<string, (dice: Dice) => ReadonlyArray<Step>>> = {
  "macp.mode.decision.v1": (dice) => [
    say("Proposal", DecisionMode.ProposalPayloadSchema)(LEAD, { proposalId: "p1", option: "ship", rationale: "ready" }),
    ...times(dice.from(0, 14), (number) =>
      say("Evaluation", DecisionMode.EvaluationPayloadSchema)(dice.oneOf([RISK, OPS]), {
        proposalId: "p1",
        recommendation: "APPROVE",
        confidence: 0.9,
        reason: `look ${number}`
      })
    ),
    ...[RISK, OPS].map((voter) =>
      say("Vote", DecisionMode.VotePayloadSchema)(voter, { proposalId: "p1", vote: "APPROVE", reason: "fine" })
    ),
    commit(LEAD, "decision.selected")
  ],
  "macp.mode.proposal.v1": (dice) => {
    const counters = dice.from(0, 6)
    return [
      say("Proposal", ProposalMode.ProposalPayloadSchema)(LEAD, { proposalId: "p0", title: "plan", summary: "all" }),
      ...times(counters, (number) =>
        say("CounterProposal", ProposalMode.CounterProposalPayloadSchema)(dice.oneOf([RISK, OPS]), {
          proposalId: `p${number + 1}`,
          supersedesProposalId: `p${number}`,
          title: `plan ${number + 1}`
        })
      ),
      ...PARTICIPANTS.map((party) =>
        say("Accept", ProposalMode.AcceptPayloadSchema)(party, { proposalId: `p${counters}`, reason: "agreed" })
      ),
      commit(LEAD, "proposal.accepted")
    ]
  },
  "macp.mode.task.v1": (dice) => [
    say("TaskRequest", TaskMode.TaskRequestPayloadSchema)(LEAD, { taskId: "t1", title: "count", instructions: "all" }),
    say("TaskAccept", TaskMode.TaskAcceptPayloadSchema)(RISK, { taskId: "t1" }),
    ...times(dice.from(0, 12), (number) =>
      say("TaskUpdate", TaskMode.TaskUpdatePayloadSchema)(RISK, { taskId: "t1", progress: number / 12, message: "on" })
    ),
    say("TaskComplete", TaskMode.TaskCompletePayloadSchema)(RISK, { taskId: "t1", summary: "done" }),
    commit(LEAD, "task.completed")
  ],
  "macp.mode.handoff.v1": (dice) => [
    say("HandoffOffer", HandoffMode.HandoffOfferPayloadSchema)(LEAD, { handoffId: "h1", targetParticipant: RISK }),
    ...times(dice.from(0, 5), () =>
      say("HandoffContext", HandoffMode.HandoffContextPayloadSchema)(LEAD, {
        handoffId: "h1",
        contentType: "text/plain"
      })
    ),
    say("HandoffAccept", HandoffMode.HandoffAcceptPayloadSchema)(RISK, { handoffId: "h1", reason: "mine now" }),
    commit(LEAD, "handoff.accepted")
  ],
  "macp.mode.quorum.v1": () => [
    say("ApprovalRequest", QuorumMode.ApprovalRequestPayloadSchema)(LEAD, {
      requestId: "r1",
      action: "deploy",
      requiredApprovals: 2
    }),
    say("Approve", QuorumMode.ApprovePayloadSchema)(RISK, { requestId: "r1", reason: "fine" }),
    say("Approve", QuorumMode.ApprovePayloadSchema)(OPS, { requestId: "r1", reason: "fine" }),
    commit(LEAD, "quorum.approved")
  ],
  "ext.multi_round.v1": (dice) => [
    ...times(dice.from(0, 8), (number) =>
      say("Contribute", MultiRoundMode.ContributePayloadSchema)(dice.oneOf([RISK, OPS]), { value: `draft ${number}` })
    ),
    ...PARTICIPANTS.map((party) => say("Contribute", MultiRoundMode.ContributePayloadSchema)(party, { value: "same" })),
    commit(LEAD, "agreed")
  ]
}

const MODES = [
  "macp.mode.decision.v1",
  "macp.mode.proposal.v1",
  "macp.mode.task.v1",
  "macp.mode.handoff.v1",
  "macp.mode.quorum.v1",
  "ext.multi_round.v1"
] as const

/** The plain session of a mode, with nothing in between. */
export const plainScript = (mode: (typeof MODES)[number], dice: Dice): SessionScript => ({
  mode,
  ttlMs: LONG_TTL_MS,
  steps: plays[mode]?.(dice) ?? [],
  ending: "RESOLVED",
  posted: "before"
})

/** Any session: of any mode, length and ending, with pauses, signals and suspensions in between. */
export const anyScript = (dice: Dice): SessionScript => {
  const script = plainScript(dice.oneOf(MODES), dice)
  const ending = dice.oneOf<Ending>(["RESOLVED", "RESOLVED", "RESOLVED", "CANCELLED", "EXPIRED"])
  const kept = ending === "RESOLVED" ? script.steps.length : dice.from(0, script.steps.length - 1)
  const suspended = dice.chance(0.3) ? dice.from(0, kept) : -1
  const steps = script.steps
    .slice(0, kept)
    .flatMap((step, index) => [
      ...(index === suspended ? suspension(dice) : []),
      ...(dice.chance(0.2) ? [{ kind: "signal", sender: RISK } as const] : []),
      step,
      ...(dice.chance(0.4) ? [{ kind: "pause", ms: dice.from(1, 15) } as const] : [])
    ])
  const posted = ending === "RESOLVED" && dice.chance(0.15) ? "after" : "before"
  const played: SessionScript = {
    ...script,
    steps,
    ending,
    ttlMs: ending === "EXPIRED" ? SHORT_TTL_MS : LONG_TTL_MS,
    posted
  }
  return posted === "before" && dice.chance(0.8) ? withStep(played, ATTACHED, dice) : played
}

/** A session takes no messages while it is suspended. */
const suspension = (dice: Dice): ReadonlyArray<Step> => [
  { kind: "suspend" },
  { kind: "pause", ms: dice.from(1, 30) },
  { kind: "resume" }
]

/** The script with a step put somewhere into it. */
export const withStep = (script: SessionScript, step: Step, dice: Dice): SessionScript => {
  const position = dice.from(0, script.steps.length)
  return { ...script, steps: [...script.steps.slice(0, position), step, ...script.steps.slice(position)] }
}
