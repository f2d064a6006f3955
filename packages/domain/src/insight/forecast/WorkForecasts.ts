import { isReleaseFrom } from "../../policies/Release.ts"
import type { HandoffRecord, SessionTerms, TaskRecord } from "../../policies/SessionRecord.ts"
import type { Statement } from "../Act.ts"
import { isAllowed } from "../ActivePolicy.ts"
import { type ModeForecast, type Move, type Step, statement } from "./ModeForecast.ts"

/** A task: the initiator requests, one participant takes it and reports its end; a report is final. */
export const taskForecast = (terms: SessionTerms, acts: ReadonlyArray<Statement>, record: TaskRecord): ModeForecast => {
  const { initiator } = terms
  const { assignee, report } = record
  const request = acts.find(({ type }) => type === "TaskRequest")
  const about = request?.proposalId ?? "a new task"
  const eligible =
    request === undefined ? terms.participants.filter((one) => one !== initiator) : eligibleFor(terms, record)
  const canRefuse = assignee === undefined || terms.policy.rules.assignment.allow_reassignment_on_reject
  const canEnd = report === undefined && (assignee !== undefined || eligible.length > 0)
  const reported = [1, 0].map((outputBytes): TaskRecord => ({ ...record, report: { outputBytes } }))
  return {
    record,
    ends: [
      ...(canEnd ? reported : [record]),
      // Every eligible participant may refuse, as long as that is allowed; then the task may end here.
      ...(canEnd && (canRefuse || request === undefined) ? [record, allRefused(record, eligible, canRefuse)] : [])
    ],
    outstanding: outstandingOf(terms, record, request === undefined, eligible),
    moves: report === undefined && request !== undefined ? taskMoves(record, about, eligible) : [],
    needs: (positive) => {
      if (isAllowed(terms, record, positive)) return [[]]
      if (!canEnd) return []
      const worker = assignee === undefined ? eligible : [assignee]
      const needsOutput = positive && terms.policy.rules.completion.require_output
      const end: Step = { count: 1, of: worker, act: "TaskComplete", ...(needsOutput && { value: "with an output" }) }
      return [
        [
          ...(request === undefined ? [{ count: 1, of: [initiator], act: "TaskRequest" }] : []),
          ...(assignee === undefined ? [{ count: 1, of: eligible, act: "TaskAccept" }] : []),
          end
        ]
      ]
    },
    isExact: true
  }
}

const outstandingOf = (
  { initiator }: SessionTerms,
  { assignee, report }: TaskRecord,
  isUnrequested: boolean,
  eligible: ReadonlyArray<string>
) => {
  if (report !== undefined) return []
  if (isUnrequested) return [{ participantId: initiator, acts: ["TaskRequest"] }]
  if (assignee !== undefined) return [{ participantId: assignee, acts: ["TaskComplete", "TaskFail", "TaskReject"] }]
  return eligible.map((participantId) => ({ participantId, acts: ["TaskAccept", "TaskReject"] }))
}

const taskMoves = (record: TaskRecord, about: string, eligible: ReadonlyArray<string>): ReadonlyArray<Move> =>
  record.assignee === undefined
    ? eligible.flatMap((by) =>
        ["TaskAccept", "TaskReject"].map((type) => ({ statement: statement(by, type, about), kind: type }))
      )
    : [
        { statement: statement(record.assignee, "TaskComplete", about, { outputBytes: 1 }), kind: "TaskComplete" },
        { statement: statement(record.assignee, "TaskFail", about), kind: "TaskFail" }
      ]

/** The participants that may still accept an unassigned task. */
const eligibleFor = (
  { initiator, participants, policy, release }: SessionTerms,
  { assignee, rejections, requestedAssignee }: TaskRecord
): ReadonlyArray<string> => {
  if (assignee !== undefined) return []
  const isPersonal = isReleaseFrom(release, "0.13.0")
  const refusals = [...rejections]
  const reassigns = refusals.some(({ whileAssigned }) => whileAssigned || !isPersonal)
  if (reassigns && !policy.rules.assignment.allow_reassignment_on_reject) return []
  return participants.filter(
    (participant) =>
      (requestedAssignee === "" ? participant !== initiator : participant === requestedAssignee) &&
      !(isPersonal && refusals.some(({ by }) => by === participant))
  )
}

/** The assignee gives the task back where that is allowed, and every other eligible participant refuses it. */
const allRefused = (record: TaskRecord, eligible: ReadonlyArray<string>, canRefuse: boolean): TaskRecord => {
  const { assignee } = record
  const back = assignee === undefined || !canRefuse ? [] : [{ by: assignee, whileAssigned: true }]
  const refusals = eligible.map((by) => ({ by, whileAssigned: false }))
  return { ...record, assignee: undefined, rejections: [...record.rejections, ...back, ...refusals] }
}

/** A handoff: the initiator offers to one participant at a time, who accepts or declines; answers stay. */
export const handoffForecast = (
  terms: SessionTerms,
  acts: ReadonlyArray<Statement>,
  record: HandoffRecord
): ModeForecast => {
  const { initiator, participants, release } = terms
  const answered = new Set(acts.flatMap(({ proposalId, type }) => (ANSWERS.includes(type) ? [proposalId] : [])))
  const declined = new Set(acts.flatMap(({ by, type }) => (type === "HandoffDecline" ? [by] : [])))
  const pending = acts.findLast(({ proposalId, type }) => type === "HandoffOffer" && !answered.has(proposalId))
  const isFinal = isReleaseFrom(release, "0.13.0")
  const targets =
    pending !== undefined || record.isAccepted
      ? []
      : participants.filter((one) => one !== initiator && !(isFinal && declined.has(one)))
  const targeted = pending?.target === undefined ? targets : [pending.target]
  const canEnd = targeted.length > 0
  const [accepted, refused] = [
    { ...record, isAnswered: true, isAccepted: true },
    { ...record, isAnswered: true }
  ]
  const offer: ReadonlyArray<Step> = pending === undefined ? [{ count: 1, of: [initiator], act: "HandoffOffer" }] : []
  return {
    record,
    // While nothing is offered, nothing is certain: the initiator may leave it at that.
    ends: canEnd ? [accepted, refused, ...(pending === undefined ? [record] : [])] : [record],
    outstanding: !canEnd
      ? []
      : pending === undefined
        ? [{ participantId: initiator, acts: ["HandoffOffer"] }]
        : targeted.map((participantId) => ({ participantId, acts: ANSWERS })),
    moves:
      pending === undefined
        ? []
        : targeted.flatMap((by) =>
            ANSWERS.map((type) => ({ statement: statement(by, type, pending.proposalId), kind: type }))
          ),
    needs: (positive) => {
      if (isAllowed(terms, record, positive)) return [[]]
      if (!canEnd) return []
      const acts = ANSWERS.filter((act) => isAllowed(terms, act === "HandoffAccept" ? accepted : refused, positive))
      return acts.map((act) => [...offer, { count: 1, of: targeted, act }])
    },
    isExact: true
  }
}

const ANSWERS = ["HandoffAccept", "HandoffDecline"]
