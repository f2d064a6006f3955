import type { AnsweredItem, InboxItem, QuestionedItem, ReturnedItem, ReturnRequest } from "@runplane/api"
import type { AnswerContent } from "@runplane/domain"
import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query"
import { callInbox } from "../../client/Inbox.ts"
import { problemOf } from "../../client/Problem.ts"
import { refusedAnswer } from "../../view/inbox/AnswerResult.ts"
import { writeDraft } from "./Drafts.ts"
import { itemKey } from "./useInbox.ts"

export type SentAnswer = UseMutationResult<AnsweredItem, Error, AnswerContent>

const pageHeaders = (nonce: string | undefined) => (nonce === undefined ? {} : { "x-page-nonce": nonce })

/** Sends an answer about what is shown now; its draft ends with it. */
export const useAnswer = ({ basis, id, nonce, proposalHash }: InboxItem): SentAnswer => {
  const queries = useQueryClient()
  return useMutation<AnsweredItem, Error, AnswerContent>({
    mutationFn: (content) => {
      if (basis === undefined) throw new Error("the session is being read again")
      const { ordinal, sha256 } = basis
      const { act, confidence, reason, recommendation, severity } = content
      return callInbox((api) =>
        api.inbox.answer({
          params: { id },
          headers: pageHeaders(nonce),
          payload: {
            act,
            reason,
            ...(recommendation !== undefined && { recommendation }),
            ...(confidence !== undefined && { confidence }),
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

export type SentReturn = UseMutationResult<ReturnedItem, Error, ReturnRequest>

/** Returns the item to all who may answer, or to a colleague. */
export const useReturn = ({ id, nonce }: InboxItem): SentReturn => {
  const queries = useQueryClient()
  return useMutation<ReturnedItem, Error, ReturnRequest>({
    mutationFn: (payload) =>
      callInbox((api) => api.inbox.return({ params: { id }, headers: pageHeaders(nonce), payload })),
    onSettled: () => queries.invalidateQueries({ queryKey: itemKey(id) })
  })
}

export type SentQuestion = UseMutationResult<QuestionedItem, Error, string>

/** Sends a question to the agents. */
export const useQuestion = ({ id, nonce }: InboxItem): SentQuestion => {
  const queries = useQueryClient()
  return useMutation<QuestionedItem, Error, string>({
    mutationFn: (text) =>
      callInbox((api) => api.inbox.question({ params: { id }, headers: pageHeaders(nonce), payload: { text } })),
    onSettled: () => queries.invalidateQueries({ queryKey: itemKey(id) })
  })
}
