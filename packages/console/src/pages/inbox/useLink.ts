import type { AnsweredItem, LinkedItem, SentCode } from "@runplane/api"
import type { AnswerContent } from "@runplane/domain"
import { type UseMutationResult, type UseQueryResult, useMutation, useQuery } from "@tanstack/react-query"
import { callInbox } from "../../client/Inbox.ts"
import { SOON_MS } from "../../view/live/Polls.ts"
import { writeDraft } from "./Drafts.ts"
import type { SentAnswer } from "./useAnswer.ts"

/** The question of a link, read again while it takes an answer. The token is in the body: addresses are logged. */
export const useLinked = (token: string, isOver: boolean): UseQueryResult<LinkedItem> =>
  useQuery({
    queryKey: ["link", token],
    queryFn: ({ signal }) => callInbox((api) => api.links.read({ payload: { token } }), signal),
    enabled: !isOver,
    refetchInterval: ({ state: { error } }) => (error === null ? SOON_MS : false)
  })

/** Has a code sent to the person. */
export const useCode = (token: string): UseMutationResult<SentCode, Error, void> =>
  useMutation<SentCode, Error, void>({
    mutationFn: () => callInbox((api) => api.links.code({ payload: { token } }))
  })

/** Sends the answer of a link with its code; the draft ends with it. */
export const useLinkAnswer = (token: string, linked: LinkedItem | undefined, code: string): SentAnswer =>
  useMutation<AnsweredItem, Error, AnswerContent>({
    mutationFn: ({ act, confidence, reason, recommendation, severity }) => {
      if (linked?.item.basis === undefined) throw new Error("the session is being read again")
      const { basis, proposalHash } = linked.item
      const payload = {
        ...{ act, reason, proposalHash, token, code },
        ...(recommendation !== undefined && { recommendation }),
        ...(confidence !== undefined && { confidence }),
        ...(severity !== undefined && { severity }),
        basis: { ordinal: basis.ordinal, sha256: basis.sha256 }
      }
      return callInbox((api) => api.links.answer({ payload }))
    },
    onSuccess: () => {
      if (linked !== undefined) writeDraft(linked.item.id, "")
    }
  })
