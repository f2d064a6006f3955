import type { AnsweredItem, InboxItem } from "@runplane/api"
import type { AnswerContent } from "@runplane/domain"
import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query"
import { callInbox } from "../../client/Inbox.ts"
import { problemOf } from "../../client/Problem.ts"
import { refusedAnswer } from "../../view/inbox/AnswerResult.ts"
import { writeDraft } from "./Drafts.ts"
import { itemKey } from "./useInbox.ts"

export type SentAnswer = UseMutationResult<AnsweredItem, Error, AnswerContent>

/** Sends an answer about what is shown now; its draft ends with it. */
export const useAnswer = ({ basis, id, nonce, proposalHash }: InboxItem): SentAnswer => {
  const queries = useQueryClient()
  return useMutation<AnsweredItem, Error, AnswerContent>({
    mutationFn: (content) => {
      if (basis === undefined) throw new Error("the session is being read again")
      const { ordinal, sha256 } = basis
      const { act, reason, recommendation, severity } = content
      return callInbox((api) =>
        api.inbox.answer({
          params: { id },
          headers: nonce === undefined ? {} : { "x-page-nonce": nonce },
          payload: {
            act,
            reason,
            ...(recommendation !== undefined && { recommendation }),
            ...(severity !== undefined && { severity }),
            proposalHash,
            basis: { ordinal, sha256 }
          }
        })
      )
    },
    onSuccess: () => writeDraft(id, ""),
    onError: (error) => {
      if (refusedAnswer(problemOf(error, "")).isOver) writeDraft(id, "")
    },
    // What the item is now, whatever the answer was.
    onSettled: () => queries.invalidateQueries({ queryKey: itemKey(id) })
  })
}
