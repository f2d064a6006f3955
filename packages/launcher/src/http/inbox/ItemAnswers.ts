import type { InboxEntry, InboxItem } from "@runplane/api"
import { cleanObject, type Right, seatMode, whyNotText } from "@runplane/domain"
import { decodePayload } from "@runplane/runtime"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { itemTitle, type ShownItem } from "../../people/Inbox.ts"
import type { InboxRow } from "../../people/InboxRows.ts"
import type { ItemRow } from "../../people/ItemRows.ts"
import type { QuestionRow } from "../../people/questions/QuestionRows.ts"
import type { Caller } from "./Caller.ts"

/** What a list shows of an item. */
const entryAnswer = (row: InboxRow, payload: ShownItem["payload"]): InboxEntry => {
  const mode = seatMode(row.mode_name)
  if (mode === undefined) throw new Error(`no seat can be in ${row.mode_name}`)
  const title = itemTitle(mode, payload)
  return {
    id: row.id,
    sessionId: row.session_id,
    seat: row.seat,
    scenarioRef: row.scenario_ref,
    mode,
    modeName: row.mode_name,
    state: row.state,
    ...(row.reason !== null && { reason: row.reason }),
    ...(title !== undefined && { title }),
    proposalHash: row.proposal_hash,
    createdAt: row.created_at,
    ...(row.opened_at !== null && { openedAt: row.opened_at }),
    ...(row.deadline_at !== null && { deadlineAt: row.deadline_at }),
    ...(row.seen_at !== null && { seenAt: row.seen_at }),
    ...(row.closed_at !== null && { closedAt: row.closed_at }),
    ...(row.replaces !== null && { replaces: row.replaces }),
    ...(row.follows !== null && { follows: row.follows }),
    ...(row.new_item !== null && { newItem: row.new_item })
  }
}

/** The same of a row, with the payload that it has as bytes. */
export const listedItem = (row: InboxRow): InboxEntry =>
  entryAnswer(row, decodePayload(row.payload_type, Result.getOrThrow(Base64.decode(row.payload))))

export const mayNotText = (right: Exclude<Right, "answer">): string => `you are ${whyNotText(right)}`

export const givenAnswer = (
  { answeredAtUnixMs, content, onBehalfOf, person, proof }: NonNullable<ItemRow["given"]>,
  isWithheld: boolean
): NonNullable<InboxItem["given"]> => ({
  ...(person !== undefined && { by: person }),
  ...(onBehalfOf !== undefined && { onBehalfOf }),
  at: new Date(answeredAtUnixMs).toISOString(),
  ...(person !== undefined && { proof }),
  ...(!isWithheld && { content })
})

export const assignedAnswer = ({ added, assign }: Pick<ShownItem, "added" | "assign">) => ({
  assigned: [
    ...assign.map((to) => ({ to })),
    ...added.flatMap(({ addedBy: by, assignee: to, at, reason, step }): InboxItem["assigned"] => {
      if (to === undefined) return []
      return step === undefined ? [{ to, by, at, reason }] : [{ to, at, step: step + 1 }]
    })
  ],
  returns: added
    .filter(({ step }) => step === undefined)
    .map(({ addedBy: by, assignee: to, at, reason }) => ({ by, at, ...(to !== undefined && { to }), reason }))
})

export const questionAnswer = ({ at, by, text }: QuestionRow) => ({ by, at, text })

/** Who may answer since it opened: by steps of its escalation, and by delegations. */
const laterAnswer = ({ by, delegations, escalations }: ShownItem) => ({
  escalations: escalations.map(({ at, cause, reach, step, to, why }) => ({
    ...{ step: step + 1, to, at, cause, reach },
    ...(why !== undefined && { why })
  })),
  delegations: delegations.map(({ delegation: { by, id, to, untilUnixMs }, right }) => ({
    ...{ id, by: by.id, to, until: new Date(untilUnixMs).toISOString() },
    ...(right !== "answer" && { mayNotBecause: noRightText(right) })
  })),
  ...(by !== undefined && { onBehalfOf: by.by.id })
})

const noRightText = (right: Exclude<Right, "answer">): string => `the delegate or its author is ${whyNotText(right)}`

interface Beside {
  readonly run: InboxItem["run"]
  readonly nonce: string | undefined
}

/** An item with everything that its answer rests on. */
export const itemAnswer = (shown: ShownItem, { mayNot }: Caller, { nonce, run }: Beside): InboxItem => {
  const { basis, closedActs, consequences, given, payload, right, row, suspension, unavailable } = shown
  const decoded = payload && cleanObject(payload)
  const why = right === "answer" ? mayNot : mayNotText(right)
  return {
    ...entryAnswer(row, payload),
    ...(run !== undefined && { run }),
    payload: { type: row.payload_type, base64: row.payload, ...(decoded !== undefined && { decoded }) },
    hashed: row.hashed,
    ...assignedAnswer(shown),
    ...(shown.notices.length > 0 && {
      notices: shown.notices.map(({ reason, ...notice }) => ({ ...notice, ...(reason !== null && { reason }) }))
    }),
    ...(shown.questions.length > 0 && { questions: shown.questions.map(questionAnswer) }),
    ...laterAnswer(shown),
    mayAnswer: why === undefined,
    ...(why !== undefined && { mayNotBecause: why }),
    reasonRule: shown.reason,
    // A press in Slack comes without a sign-in, and is none here.
    proof: { needed: shown.proof, given: shown.givenProof === "slack" ? "none" : shown.givenProof },
    acts: why === undefined ? shown.acts : [],
    ...(closedActs !== undefined && { closedActs }),
    ...(basis !== undefined && { basis }),
    ...(unavailable !== undefined && { unavailable }),
    ...(suspension !== undefined && { suspension }),
    messages: shown.messages,
    ...(consequences !== undefined && { consequences }),
    policy: { version: shown.policyVersion, lines: shown.policy },
    ...(given !== undefined && { given: givenAnswer(given, shown.isGivenWithheld) }),
    ...(nonce !== undefined && { nonce })
  }
}
