import type { InboxItem } from "@runplane/api"
import { STATES } from "./InboxWords.ts"

/** What of an item a person looks at before it answers; a change of it greys the buttons for a moment. */
export const shownPart = (item: InboxItem): string => {
  const { acts, assigned, basis, closedActs, consequences, deadlineAt, given, mayAnswer, mayNotBecause, messages } =
    item
  const { newItem, returns, policy, proof, proposalHash, reason, reasonRule, state, unavailable } = item
  return JSON.stringify([
    [state, reason, proposalHash, newItem, mayAnswer, mayNotBecause, unavailable, acts, closedActs, reasonRule, proof],
    [deadlineAt, policy, messages, consequences, basis, given, assigned, returns]
  ])
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** The changes between two readings of an item, a sentence each. */
export const changesOf = (was: InboxItem, now: InboxItem): ReadonlyArray<string> => {
  const lines: Array<string> = []
  if (was.state !== now.state) lines.push(`The question is ${STATES[now.state].word.toLowerCase()} now.`)
  if (was.proposalHash !== now.proposalHash) lines.push("The proposal is another one.")
  const known = new Set(was.messages.map(({ ordinal }) => ordinal))
  for (const { by, ordinal, type } of now.messages) {
    if (!known.has(ordinal)) lines.push(`${NEWS[type] ?? type} of ${by} came in.`)
  }
  const more = (now.basis?.withheld.length ?? 0) - (was.basis?.withheld.length ?? 0)
  if (more === 1) lines.push("One more message came in, which is withheld until you have answered.")
  if (more > 1) lines.push(`${more} more messages came in, which are withheld until you have answered.`)
  if (!same(was.acts, now.acts)) lines.push("Other answers are possible now.")
  if (!same(was.consequences, now.consequences)) lines.push("What the answers lead to has changed.")
  for (const { by, to } of now.returns.slice(was.returns.length)) lines.push(returnText(by, to))
  if (was.deadlineAt !== now.deadlineAt) lines.push("The deadline has changed.")
  if (!same(was.policy, now.policy)) lines.push("The policy is shown otherwise.")
  if (was.unavailable !== now.unavailable) {
    lines.push(now.unavailable === undefined ? "It takes answers again." : `It takes no answer: ${now.unavailable}.`)
  }
  if (was.mayAnswer !== now.mayAnswer)
    lines.push(now.mayAnswer ? "You may answer now." : "You may not answer any more.")
  return lines.length > 0 || shownPart(was) === shownPart(now) ? lines : ["The session has gone on."]
}

const NEWS: Readonly<Record<string, string>> = {
  Evaluation: "An evaluation",
  Objection: "An objection",
  Vote: "A vote",
  Approve: "A ballot",
  Reject: "A ballot",
  Abstain: "A ballot",
  HandoffContext: "A context"
}

/** "ann returned it; ben may answer too." */
export const returnText = (by: string, to: string | undefined): string =>
  to === undefined
    ? `${by} returned it to all who may answer.`
    : `${by} returned it; ${assigneeText(to)} may answer too.`

/** Who may answer: a person by its id, a group with the word before it. */
export const assigneeText = (to: string): string =>
  to.startsWith("group:") ? `group ${to.slice("group:".length)}` : to.replace(/^person:/, "")

/** What is different in an item that replaces another one, a sentence each. */
export const differenceOf = (was: InboxItem, now: InboxItem): ReadonlyArray<string> => {
  const lines: Array<string> = []
  if (was.title !== now.title) lines.push(`Proposed before: ${was.title ?? "nothing with a title"}.`)
  const { sender } = now.hashed.subject
  if (was.hashed.subject.sender !== sender)
    lines.push(`It comes from ${sender}, not from ${was.hashed.subject.sender}.`)
  if (was.payload.base64 !== now.payload.base64) lines.push("The content of the proposal is another one.")
  if (was.hashed.policyHash !== now.hashed.policyHash) lines.push("The policy is another one.")
  const known = new Set(was.messages.map(({ ordinal }) => ordinal))
  for (const { by, ordinal, type } of now.messages) {
    if (!known.has(ordinal)) lines.push(`${NEWS[type] ?? type} of ${by} is new.`)
  }
  return lines.length > 0 ? lines : ["The record of the session is longer."]
}
