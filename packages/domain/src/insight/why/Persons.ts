import { minuteText } from "../../values/IsoTime.ts"
import type { Act } from "../Act.ts"

/** Whether an act is that of a deadline: the vote of no person. */
export const isOfDeadline = ({ answer }: Act): boolean => answer !== undefined && answer.person === undefined

/** What a participant did whose deadline acted in its stead; undefined for any other act. */
export const noAnswerText = (act: Act, says: string): string | undefined => {
  const { answer } = act
  if (answer === undefined || answer.person !== undefined) return undefined
  return `gave no answer by ${minuteText(answer.deadline ?? answer.answeredAt)}, and its deadline ${says}`
}

/** The act of a person as a sentence: who, for which seat, when, and on what. Undefined for any other act. */
export const personText = ({ answer, by }: Act, says: string): string | undefined => {
  if (answer?.person === undefined) return undefined
  const unseen = unseenText(answer.unseen)
  return (
    `person:${answer.person} ${says} for ${by}${onBehalfText(answer.onBehalfOf)} at ` +
    `${minuteText(answer.answeredAt)}, ` +
    `on the proposal as it stood (hash ${answer.hash})${unseen === "" ? "" : `; ${unseen} came in unseen`}` +
    (answer.proof === "link" ? `; ${LINK_PROOF}` : "")
  )
}

/** What an answer by a link does not prove. */
const LINK_PROOF = "by a personal link, the weakest proof: without a sign-in"

const onBehalfText = (person: string | undefined): string =>
  person === undefined ? "" : ` on behalf of person:${person}`

/** `2 evaluations and 1 vote` */
const unseenText = (unseen: Readonly<Record<string, number>>): string => {
  const parts = Object.entries(unseen).map(([type, count]) => `${count} ${wordOf(type)}${count === 1 ? "" : "s"}`)
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
}

/** `HandoffContext` as `handoff context`. */
const wordOf = (type: string): string => type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()

/** The line that the launch service adds to a reason. */
const LINE = /\n?\[(?:person \S+|deadline) item \S+ sha256:[0-9a-f]+\]$/

/** The reason in the words of the person: the line behind it is in the record of the answer. */
export const withoutLine = ({ answer, reason }: Act): string | undefined => {
  const words = answer === undefined ? reason : reason?.replace(LINE, "")
  return words === "" ? undefined : words
}
