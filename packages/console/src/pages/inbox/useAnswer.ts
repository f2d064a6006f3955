import type { AnsweredItem, InboxItem, ReturnedItem, ReturnRequest } from "@runplane/api"
import { type AnswerContent, passkeyChallenge, signedText } from "@runplane/domain"
import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query"
import { callInbox } from "../../client/Inbox.ts"
import { NotSigned, signByPasskey } from "../../client/Passkeys.ts"
import { problemOf } from "../../client/Problem.ts"
import { type Refused, refusedAnswer, sentence } from "../../view/inbox/AnswerResult.ts"
import { sha256 } from "../../view/inbox/Binding.ts"
import { writeDraft } from "./Drafts.ts"
import { itemKey } from "./useInbox.ts"

export type SentAnswer = UseMutationResult<AnsweredItem, Error, AnswerContent>

const pageHeaders = (nonce: string | undefined) => (nonce === undefined ? {} : { "x-page-nonce": nonce })

/** What an answer that failed means; one that no passkey has signed was not sent. */
export const refusedBy = (error: Error): Refused =>
  error instanceof NotSigned
    ? { title: "Not signed: your answer was not sent", lines: [sentence(error.message)], isOver: false }
    : refusedAnswer(problemOf(error, ""))

/** Sends an answer about what is shown now; its draft ends with it. */
export const useAnswer = ({ basis, id, nonce, proof, proposalHash }: InboxItem): SentAnswer => {
  const queries = useQueryClient()
  return useMutation<AnsweredItem, Error, AnswerContent>({
    mutationFn: async (content) => {
      if (basis === undefined) throw new Error("the session is being read again")
      const { act, confidence, reason, recommendation, severity } = content
      const answer = {
        act,
        reason,
        ...(recommendation !== undefined && { recommendation }),
        ...(confidence !== undefined && { confidence }),
        ...(severity !== undefined && { severity }),
        proposalHash,
        basis: { ordinal: basis.ordinal, sha256: basis.sha256 }
      }
      const request = { params: { id }, headers: pageHeaders(nonce) }
      if (proof.needed !== "passkey") return callInbox((api) => api.inbox.answer({ ...request, payload: answer }))
      const challenge = await callInbox((api) => api.inbox.challenge(request))
      const text = signedText({ ...answer, item: id, nonce: challenge.nonce })
      const assertion = await signByPasskey(passkeyChallenge(sha256, text), challenge)
      const payload = { ...answer, passkey: { ...assertion, nonce: challenge.nonce } }
      return callInbox((api) => api.inbox.answer({ ...request, payload }))
    },
    onSuccess: () => writeDraft(id, ""),
    onError: (error) => {
      if (refusedBy(error).isOver) writeDraft(id, "")
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
