import { type ActivePolicy, type Deliberation, type VoteChange, whatIf } from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import * as Result from "effect/Result"
import { useMemo } from "react"
import { call } from "../../../client/Client.ts"
import { Avatar, Chip, UserText } from "../../../ui/basics.tsx"
import { Reasons } from "../../../ui/kit.tsx"
import { Failure } from "../../../ui/States.tsx"
import type { TallyRow } from "../../../view/run/Tally.ts"
import { turnVote } from "../../../view/run/WhatIfState.ts"
import type { RunPageState, SetRunPage } from "../RunParams.ts"
import type { ShownRun } from "../useShown.ts"
import { policyText } from "./useActivePolicy.ts"

interface WhatIfPanelProps {
  readonly run: Deliberation
  readonly by: ActivePolicy
  readonly rows: ReadonlyArray<TallyRow>
  readonly page: RunPageState
  readonly set: SetRunPage
  readonly shown: ShownRun
}

const MOST_VOTERS = 40
const MOST_ROWS = 10

/** The verdict with other votes or under another policy, computed in the browser. */
export default function WhatIfPanel({ by, page, rows, run, set, shown }: WhatIfPanelProps) {
  const policies = useQuery({
    queryKey: ["policies", run.modeName],
    queryFn: ({ signal }) => call((api) => api.policies.list({ query: {} }), signal),
    staleTime: 60_000
  })
  const fitting = (policies.data ?? []).filter(({ mode }) => mode === "*" || mode === run.modeName)
  const chosen = fitting.find(({ policyId }) => policyId === page.policy)
  const answer = useMemo(() => {
    const policy = chosen === undefined ? {} : { policy: policyText(chosen) }
    return whatIf(run, by, { ...policy, votes: page.votes })
  }, [run, by, chosen, page.votes])
  const isChanged = page.votes.length > 0 || chosen !== undefined
  const voters = run.participants.slice(0, MOST_VOTERS)
  const wordOf = (row: TallyRow, who: string) =>
    row.approve.includes(who)
      ? "APPROVE"
      : row.reject.includes(who)
        ? "REJECT"
        : row.abstain.includes(who)
          ? "ABSTAIN"
          : undefined
  return (
    <section className="panel no-print p-4" aria-label="What if">
      <div className="flex flex-wrap items-baseline justify-between gap-2">
        <h2 className="font-semibold">What if</h2>
        <button type="button" className="btn" disabled={!isChanged} onClick={() => set({ votes: [], policy: "" })}>
          Reset
        </button>
      </div>
      <p className="mt-0.5 text-muted">
        Click a vote to change it, or choose another policy. The run itself does not change.
      </p>
      {policies.isError ? (
        <Failure what="The policies cannot be read" error={policies.error} retry={() => void policies.refetch()} />
      ) : (
        <label className="mt-3 block max-w-[420px]">
          <span className="label">Policy</span>
          <select
            className="field mt-0.5 w-full"
            value={chosen?.policyId ?? ""}
            onChange={({ target }) => set({ policy: target.value })}
          >
            <option value="">{by.policyVersion || "policy of the run"} (active)</option>
            {fitting
              .filter(({ policyId }) => policyId !== by.policyVersion)
              .map(({ policyId }) => (
                <option key={policyId} value={policyId}>
                  {policyId}
                </option>
              ))}
          </select>
        </label>
      )}
      <div className="mt-3 flex flex-col gap-3">
        {rows.slice(0, MOST_ROWS).map((row) => (
          <fieldset key={row.id}>
            <legend className="mb-1 font-medium">
              <UserText text={row.title} />
            </legend>
            <div className="flex flex-wrap gap-1.5">
              {voters.map((who) => {
                const cast = wordOf(row, who)
                const changed = page.votes.find(
                  ({ participantId, proposalId }) => participantId === who && proposalId === row.id
                )?.vote
                const word = changed ?? cast ?? "no vote"
                return (
                  <button
                    key={who}
                    type="button"
                    aria-label={`${who} on ${row.title}: ${word}${changed === undefined ? "" : ", changed"}`}
                    className={`btn h-auto gap-1.5 py-1 ${changed === undefined ? "" : "border-accent bg-accent-soft"}`}
                    onClick={() => set({ votes: turnVote(page.votes, who, row.id, cast) })}
                  >
                    <Avatar name={who} index={shown.participantIndex(who)} size={18} />
                    <UserText text={who} className="max-w-[120px] truncate" />
                    <span className={toneOf[word] ?? "text-muted"}>{word}</span>
                  </button>
                )
              })}
            </div>
          </fieldset>
        ))}
      </div>
      <div className="mt-4 border-t border-line pt-3" aria-live="polite" role="status" data-what-if>
        {Result.isFailure(answer) ? (
          <p className="text-warn">
            <UserText text={answer.failure.message} />
          </p>
        ) : (
          <Answer
            {...answer.success}
            isChanged={isChanged}
            titleOf={(id) => rows.find((row) => row.id === id)?.title ?? id}
          />
        )}
      </div>
    </section>
  )
}

const toneOf: Readonly<Record<string, string>> = { APPROVE: "text-good", REJECT: "text-bad" }

type AnswerProps = Result.Result.Success<ReturnType<typeof whatIf>> & {
  readonly isChanged: boolean
  readonly titleOf: (proposalId: string) => string
}

const Answer = ({ after, before, changed, isChanged, notes, pivotal, smallestChange, titleOf }: AnswerProps) => {
  const say = ({ participantId, proposalId, to }: VoteChange) => `${participantId} ${to} on ${titleOf(proposalId)}`
  return (
    <div className="flex flex-col gap-1">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span>
          A {after.outcome} outcome {isChanged ? "would be" : "is"}
        </span>
        <Chip tone={after.allowed ? "good" : "bad"}>{after.allowed ? "allowed" : "refused"}</Chip>
        {changed ? (
          <span className="font-medium text-warn">
            without the changes it {before.allowed ? "is allowed" : "is refused"}
          </span>
        ) : null}
      </p>
      <Reasons texts={after.reasons} className="" />
      {smallestChange.length === 0 ? null : (
        <p className="text-soft">
          The fewest votes that change the result: <UserText text={smallestChange.map(say).join(", ")} />
        </p>
      )}
      {pivotal.length === 0 ? null : (
        <p className="text-soft">
          Each of these votes alone changes the result: <UserText text={pivotal.slice(0, 8).map(say).join(", ")} />
          {pivotal.length > 8 ? " and more" : ""}
        </p>
      )}
      {notes.length === 0 ? null : (
        <p className="text-[12px] text-muted">
          <UserText text={notes.join("; ")} />
        </p>
      )}
    </div>
  )
}
