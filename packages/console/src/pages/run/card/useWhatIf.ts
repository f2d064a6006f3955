import {
  type ActivePolicy,
  type Deliberation,
  isTerminal,
  type VoteChange,
  type WhatIf,
  whatIf
} from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import * as Result from "effect/Result"
import { call } from "../../../client/Client.ts"
import { isOffline } from "../../../client/Offline.ts"
import type { ChangedVote } from "../../../view/run/WhatIfState.ts"
import { policyText } from "../decision/useActivePolicy.ts"
import type { ShownRun } from "../useShown.ts"

/** The changes that are tried. */
export interface Tried {
  readonly votes: ReadonlyArray<ChangedVote>
  /** Id of another policy; empty for the one of the run. */
  readonly policy: string
}

/** The parts of an answer that the card shows. */
export interface TriedAnswer extends Pick<WhatIf, "after" | "before" | "changed" | "notes"> {
  readonly pivotal: ReadonlyArray<Pick<VoteChange, "participantId" | "proposalId">>
}

/**
 * The answer of the service to the changes. It is the answer to the latest ones: a query has their words as its key,
 * and that of earlier ones is cancelled. An earlier index and an exported run have the same function in the browser.
 */
export const useWhatIf = (
  shown: ShownRun,
  { policy, votes }: Tried,
  local: { readonly run: Deliberation; readonly by: ActivePolicy } | undefined
) => {
  const { isNow, run, state } = shown
  const isAsked = votes.length > 0 || policy !== ""
  const isLocal = isOffline || !isNow
  return useQuery({
    queryKey: ["what if", run.id, votes, policy, isNow ? state.timeline.latestIndex : shown.events.length, isLocal],
    enabled: isAsked,
    staleTime: isTerminal(run.status) ? Number.POSITIVE_INFINITY : 0,
    queryFn: async ({ signal }): Promise<TriedAnswer> => {
      if (isLocal) return answerHere(local, { policy, votes }, signal)
      return call(
        (api) =>
          api.decisions.whatIf({
            params: { id: run.id },
            payload: {
              ...(policy !== "" && { policyVersion: policy }),
              ...(votes.length > 0 && {
                votes: votes.map(({ participantId, proposalId, vote }) => ({
                  participantId,
                  ...(proposalId !== "" && { proposalId }),
                  vote: wordOf(vote)
                }))
              })
            }
          }),
        signal
      )
    }
  })
}

const wordOf = (vote: string): "APPROVE" | "REJECT" | "ABSTAIN" =>
  vote === "APPROVE" ? "APPROVE" : vote === "REJECT" ? "REJECT" : "ABSTAIN"

const answerHere = async (
  local: { readonly run: Deliberation; readonly by: ActivePolicy } | undefined,
  { policy, votes }: Tried,
  signal: AbortSignal
): Promise<TriedAnswer> => {
  if (local === undefined) throw new Error("the events of this run are not loaded")
  const other =
    policy === "" ? undefined : await call((api) => api.policies.get({ params: { policyId: policy } }), signal)
  const changes = { ...(other !== undefined && { policy: policyText(other) }), votes }
  return Result.getOrThrow(whatIf(local.run, local.by, changes))
}
