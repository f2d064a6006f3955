import type { ActivePolicy, DecisionCard as Card, CardRing, CardVoter, Deliberation } from "@runplane/domain"
import { cardSentence, countsText, runDuration, voterWords } from "@runplane/domain"
import { useEffect, useMemo, useRef } from "react"
import { Time, UserText } from "../../../ui/basics.tsx"
import { CostText } from "../../../ui/CostText.tsx"
import { CardRings } from "../../../ui/decision/CardRings.tsx"
import { MOST_PRESSED } from "../../../ui/decision/Ring.tsx"
import { useNow } from "../../../ui/hooks.ts"
import { ballotWord, ringsWith, triedVoters } from "../../../view/decision/TriedVotes.ts"
import { verdictTone } from "../../../view/decision/VerdictTone.ts"
import { costIn, cut, duration, NAME_LENGTH, TITLE_LENGTH, whole } from "../../../view/format/Format.ts"
import { shortPolicy } from "../../../view/policies/PolicyWords.ts"
import { runFacts } from "../../../view/run/RunFacts.ts"
import { type ChangedVote, turnVote } from "../../../view/run/WhatIfState.ts"
import type { RunPageState } from "../RunParams.ts"
import type { ShownRun } from "../useShown.ts"
import { CardReasons } from "./CardReasons.tsx"
import { OtherPolicySelect } from "./OtherPolicySelect.tsx"
import { PinnedLine } from "./PinnedLine.tsx"
import { Tried } from "./Tried.tsx"
import { useWhatIf } from "./useWhatIf.ts"

interface DecisionCardProps {
  readonly card: Card
  readonly shown: ShownRun
  readonly page: Pick<RunPageState, "policy" | "votes">
  readonly set: (patch: Partial<Pick<RunPageState, "event" | "policy" | "votes">>) => void
  /** What the browser can compute the answers from; undefined for a run of which it has not all events. */
  readonly local: { readonly run: Deliberation; readonly by: ActivePolicy } | undefined
}

/** What was decided, by whom, and how close it was. A press on a voter tries another vote. */
export const DecisionCard = ({ card, local, page, set, shown }: DecisionCardProps) => {
  const asked = useWhatIf(shown, page, local)
  const isTried = page.votes.length > 0 || page.policy !== ""
  const answer = isTried ? asked.data : undefined
  const drawn = useMemo(
    () => (isTried ? { ...card, rings: ringsWith(card, page.votes, answer, page.policy !== "") } : card),
    [card, isTried, page.votes, page.policy, answer]
  )
  const { change, latest } = useLatestVotes(page.votes, (votes) => set({ votes }))
  const press = (ring: CardRing, { participantId }: CardVoter) => {
    const own = card.rings
      .find(({ proposalId }) => proposalId === ring.proposalId)
      ?.seats.find((voter) => voter.participantId === participantId)
    change(turnVote(latest.current.votes, participantId, ring.proposalId, ballotWord(own?.vote ?? "none")))
  }
  const canTry = card.hasVotes && card.rings.some(({ proposalId }) => proposalId !== "")
  const [word, tone] = isTried
    ? answer === undefined
      ? ([asked.isError ? "Not answered" : "…", "calm"] as const)
      : answer.after.allowed
        ? (["Would stand", "good"] as const)
        : (["Would not stand", "bad"] as const)
    : ([card.word, verdictTone(card.verdict)] as const)
  const counts = isTried ? countsText(drawn) : card.counts
  const section = useRef<HTMLElement>(null)
  return (
    <>
      <section ref={section} className="panel @container p-5" aria-label="Decision card" data-verdict={card.verdict}>
        <div className="grid grid-cols-1 items-center gap-x-7 gap-y-4 @2xl:grid-cols-[minmax(0,1fr)_minmax(280px,380px)] @4xl:grid-cols-[minmax(0,1fr)_minmax(300px,380px)_minmax(0,1fr)]">
          <Subject card={card} shown={shown} local={local} />
          <div className="mx-auto w-full max-w-[420px]">
            <CardRings
              card={drawn}
              word={word}
              tone={tone}
              counts={counts}
              changed={isTried ? triedVoters(page.votes) : undefined}
              onPress={canTry ? press : undefined}
            />
          </div>
          <div className="min-w-0 @2xl:col-span-2 @4xl:col-span-1" aria-live="polite" role="status">
            {isTried ? (
              <Tried
                card={card}
                page={page}
                asked={asked}
                onBack={() => {
                  change([])
                  set({ votes: [], policy: "" })
                }}
              />
            ) : (
              <CardReasons card={card} shown={shown} />
            )}
          </div>
        </div>
        <p className="sr-only">{cardSentence({ ...drawn, word, counts: countsText(drawn) })}</p>
        {canTry ? (
          <div className="no-print mt-4 flex flex-wrap items-center gap-x-4 gap-y-2 border-t border-line pt-3 text-[12px] text-muted">
            <span>Press a voter to try another vote. The run itself does not change.</span>
            <OtherPolicySelect
              modeName={card.modeName}
              policy={page.policy}
              current={shown.state.policy.policyVersion}
              set={set}
            />
            <VoterList card={drawn} onPress={press} />
          </div>
        ) : null}
      </section>
      <PinnedLine of={section} card={drawn} word={word} tone={tone} counts={counts} />
    </>
  )
}

/**
 * The tried votes as the last press left them. The page is drawn a moment later, so a quick second press cannot begin
 * from what is drawn.
 */
const useLatestVotes = (drawn: ReadonlyArray<ChangedVote>, set: (votes: ReadonlyArray<ChangedVote>) => void) => {
  const latest = useRef<{ votes: ReadonlyArray<ChangedVote>; awaited?: string }>({ votes: drawn })
  const text = JSON.stringify(drawn)
  useEffect(() => {
    const { awaited } = latest.current
    if (awaited === undefined || awaited === text) latest.current = { votes: drawn }
  }, [text, drawn])
  const change = (votes: ReadonlyArray<ChangedVote>) => {
    latest.current = { votes, awaited: JSON.stringify(votes) }
    set(votes)
  }
  return { latest, change }
}

/** The question with its circumstances. */
const Subject = ({ card, local, shown }: Pick<DecisionCardProps, "card" | "local" | "shown">) => {
  const { run, state } = shown
  const now = useNow(1_000)
  const facts = runFacts(run, state.run.intent)
  const question = card.question ?? facts.title
  const elapsed = runDuration(run, now)
  const { totals } = state.llm
  const [first] = card.rings
  const sessionRules = local?.by.sessionRules
  const policy =
    sessionRules === undefined ? undefined : shortPolicy(sessionRules.mode, sessionRules.terms.policy.rules)
  return (
    <div className="min-w-0">
      <h2 className="text-[20px] leading-tight font-semibold tracking-tight" title={question}>
        <UserText text={cut(question, TITLE_LENGTH)} />
      </h2>
      <p className="mt-1.5 text-soft">
        {[facts.scenario, facts.environment].map((text) =>
          text === undefined || text === question ? null : (
            <span key={text}>
              <UserText text={text} /> ·{" "}
            </span>
          )
        )}
        <Time at={run.startedAt ?? run.createdAt} />
      </p>
      <dl className="mt-3 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3.5 gap-y-1">
        {first?.by === undefined ? null : (
          <>
            <dt className="text-muted">Proposed by</dt>
            <dd>
              <UserText text={first.by} />
            </dd>
          </>
        )}
        {state.policy.policyVersion === "" ? null : (
          <>
            <dt className="text-muted">Policy</dt>
            <dd>
              <UserText text={state.policy.policyVersion} />
              {policy === undefined ? null : <span className="text-soft">: {policy}</span>}
            </dd>
          </>
        )}
        {elapsed === undefined ? null : (
          <>
            <dt className="text-muted">Took</dt>
            <dd className="num">
              {duration(elapsed)}
              {totals.callCount === 0 ? null : (
                <>
                  {" "}
                  · <CostText cost={costIn(totals)} /> · {whole(totals.totalTokens)} tokens
                </>
              )}
            </dd>
          </>
        )}
      </dl>
    </div>
  )
}

/** Every voter with its vote, for a keyboard, a screen reader, and for voters that are too small to be pressed. */
const VoterList = ({
  card: { hasVotes, rings },
  onPress
}: {
  readonly card: Card
  readonly onPress: (ring: CardRing, voter: CardVoter) => void
}) => (
  <details className="w-full">
    <summary className="w-fit cursor-pointer py-1 text-accent underline">
      {rings.some(({ seats: voters }) => voters.length > MOST_PRESSED)
        ? "Voters and their votes, to try others"
        : "Voters and their votes"}
    </summary>
    {rings.map((ring) => (
      <div key={ring.proposalId} className="mt-2">
        {rings.length > 1 ? (
          <h3 className="font-semibold text-soft">
            <UserText text={ring.name} />
          </h3>
        ) : null}
        <ul tabIndex={0} className="flex max-h-60 flex-wrap gap-1.5 overflow-auto py-1">
          {ring.seats.map((voter) => (
            <li key={voter.participantId}>
              <button
                type="button"
                className="btn h-auto max-w-full py-1 text-left font-normal whitespace-normal"
                onClick={() => onPress(ring, voter)}
              >
                <span className="min-w-0">
                  <UserText text={cut(voter.participantId, NAME_LENGTH)} className="font-semibold" />{" "}
                  {voterWords(voter, hasVotes)}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    ))}
  </details>
)
