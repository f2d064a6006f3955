import { launcherError } from "@runplane/api"
import { type ItemState, type LinkEnd, MAX_SENT_CODES, MAX_WRONG_CODES } from "@runplane/domain"
import type { FoundLink } from "../../people/links/LinkRows.ts"
import type { LinkRefused } from "../../people/links/Links.ts"

const ANSWERED: ReadonlySet<ItemState> = new Set(["answered", "sent", "accepted", "refused", "unknown"])

const closedText = ({ answeredBy, person, question: { state }, reason }: FoundLink): string => {
  if (ANSWERED.has(state)) {
    if (answeredBy === undefined) return "no answer came by the deadline, which has acted by its rule"
    return answeredBy === person ? "your answer is stored" : "the question has an answer of another person"
  }
  if (state === "stale") return "the question has changed: the one that follows has a link of its own"
  if (state === "expired") return "no answer came by its deadline"
  return `the question is closed${reason === undefined ? "" : `: ${reason}`}`
}

const endText = (end: LinkEnd, link: FoundLink): string => {
  switch (end) {
    case "wrong-codes":
      return `${MAX_WRONG_CODES} wrong codes have ended it`
    case "closed":
      return closedText(link)
    case "changed":
      return "it is about another proposal than the question"
    case "expired":
      return "its time is over"
  }
}

/** The directory has no link for the person any more. */
export const linkWithdrawn = launcherError(
  "LINK_REFUSED",
  "people.yaml of the scenario gives this person no personal link any more"
)

export const codesSpent = launcherError("TOO_MANY_CODES", `a link sends at most ${MAX_SENT_CODES} codes`)

/** The answer to a link that does nothing. */
export const linkError = (why: LinkRefused["why"]) => {
  switch (why._tag) {
    case "unknown":
      return launcherError("LINK_NOT_FOUND", "no question has this link: open it as it is in the mail")
    case "over":
      return launcherError("LINK_OVER", `the link is over: ${endText(why.end, why.link)}`, {
        end: why.end,
        state: why.link.question.state
      })
    case "needs-sign-in":
      return launcherError("LINK_REFUSED", "this question requires a sign-in, which a personal link does not prove")
    case "no-code":
      return launcherError(
        "LINK_CODE_MISSING",
        why.isOld ? "the code is too old: request another one" : "no code was sent yet: request one"
      )
    case "wrong-code":
      return launcherError(
        "LINK_CODE_WRONG",
        why.left === 0
          ? `the code is wrong, and the link is over: ${MAX_WRONG_CODES} wrong codes end it`
          : `the code is wrong; ${why.left} more wrong ones end the link`,
        { left: why.left }
      )
  }
}
