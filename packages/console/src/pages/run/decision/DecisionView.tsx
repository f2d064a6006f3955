import type { RunState } from "@runplane/domain"
import { Check, CircleDot, type LucideIcon, Minus, TriangleAlert, X } from "lucide-react"
import { Suspense, useMemo, useState } from "react"
import { Avatar, Chip, toneText, UserText } from "../../../ui/basics.tsx"
import { lazily } from "../../../ui/lazily.ts"
import { MarkLines } from "../../../ui/marks/MarkChip.tsx"
import { useMarksHere } from "../../../ui/marks/MarksHere.ts"
import { cut, LINES_LENGTH, percent, whole } from "../../../view/format/Format.ts"
import { type ProposalRow, proposalsOf, type Stance } from "../../../view/run/Decision.ts"
import { shadowsOf } from "../../../view/run/ShadowRows.ts"
import type { RunViewProps } from "../useShown.ts"

const ShadowsSection = lazily(() => import("./ShadowsSection.tsx"))
const CardSection = lazily(() => import("../card/CardSection.tsx"))

/** Columns of the matrix; in a larger session the rest is shown on demand. */
const MOST_PARTICIPANTS = 40
const MOST_PROPOSALS = 50

/** The proposals, the votes and opinions on each, and the decision. */
export default function DecisionView({ page, set, shown }: RunViewProps) {
  const rows = useMemo(() => proposalsOf(shown.events), [shown.events])
  const shadows = useMemo(() => shadowsOf(shown.events), [shown.events])
  const [isWhole, setWhole] = useState(false)
  const { decision, participants, policy } = shown.state
  const tally = new Map((policy.voteTally ?? []).map((entry) => [entry.commitmentId, entry]))
  const { current } = decision
  const marks = useMarksHere()?.placed.ofRun.filter(({ target }) => target.kind === "decision")
  if (rows.length === 0) {
    return (
      <div tabIndex={0} className="h-full overflow-auto p-4">
        <Suspense fallback={<div className="skeleton h-64" />}>
          <CardSection shown={shown} page={page} set={set} />
        </Suspense>
      </div>
    )
  }
  const columns = isWhole ? participants : participants.slice(0, MOST_PARTICIPANTS)
  return (
    <div tabIndex={0} className="h-full overflow-auto">
      <div className="mx-auto flex max-w-[1100px] flex-col gap-4 p-4">
        <Suspense fallback={<div className="skeleton h-64" />}>
          <CardSection shown={shown} page={page} set={set} />
        </Suspense>
        {current?.commitments === undefined ? null : (
          <p className="text-warn">{whole(current.commitments)} commitments were accepted; the last one is shown.</p>
        )}
        <MarkLines marks={marks} length={LINES_LENGTH} />
        <section className="panel overflow-x-auto" aria-label="Votes" tabIndex={0}>
          <table className="w-full border-collapse">
            <caption className="sr-only">Proposals by participants: the vote or opinion of each</caption>
            <thead>
              <tr className="border-b border-line">
                <th scope="col" className="label sticky left-0 bg-panel px-4 py-2 text-left">
                  Proposal
                </th>
                <th scope="col" className="label px-3 py-2 text-left">
                  Votes
                </th>
                {columns.map(({ participantId }) => (
                  <th key={participantId} scope="col" className="px-2 py-2 font-normal" title={participantId}>
                    <span className="flex flex-col items-center gap-1">
                      <Avatar name={participantId} index={shown.participantIndex(participantId)} />
                      <UserText
                        text={participantId}
                        className="line-clamp-2 max-w-[104px] text-[11px] leading-tight text-soft"
                      />
                    </span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, MOST_PROPOSALS).map((row) => (
                <tr key={row.id} className="border-b border-line align-top last:border-0">
                  <th
                    scope="row"
                    className="sticky left-0 max-w-[340px] min-w-[200px] bg-panel px-4 py-3 text-left font-normal"
                  >
                    <button type="button" className="text-left" onClick={() => set({ event: row.index })}>
                      <UserText text={cut(row.title, LINES_LENGTH)} className="font-semibold hover:underline" />
                    </button>
                    <p className="text-[12px] text-muted">
                      by <UserText text={row.by} />
                      {current?.proposalId === row.id || current?.action === row.title ? (
                        <Chip tone="good">decided</Chip>
                      ) : null}
                    </p>
                    {row.text === undefined ? null : (
                      <p className="mt-0.5 line-clamp-3 text-soft">
                        <UserText text={cut(row.text, LINES_LENGTH)} />
                      </p>
                    )}
                  </th>
                  <td className="num px-3 py-3">
                    <Votes row={row} tally={tally.get(row.id)} />
                  </td>
                  {columns.map(({ participantId }) => (
                    <td key={participantId} className="px-2 py-3 text-center">
                      <Cell
                        stance={row.stances.get(participantId)}
                        isProposer={row.by === participantId}
                        isSelected={page.event !== undefined && row.stances.get(participantId)?.index === page.event}
                        onSelect={(index) => set({ event: index })}
                      />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        {columns.length < participants.length || rows.length > MOST_PROPOSALS ? (
          <p className="text-muted">
            Shown are {Math.min(rows.length, MOST_PROPOSALS)} of {rows.length} proposals and {columns.length} of{" "}
            {participants.length} participants; the view Events lists all.{" "}
            {columns.length === participants.length ? null : (
              <button type="button" className="text-accent underline" onClick={() => setWhole(true)}>
                Show all participants
              </button>
            )}
          </p>
        ) : null}
        <Legend />
        {shadows.length === 0 ? null : (
          <Suspense fallback={<div className="skeleton h-32" />}>
            <ShadowsSection runId={shown.run.id} shadows={shadows} proposals={rows} set={set} />
          </Suspense>
        )}
      </div>
    </div>
  )
}

type Tally = NonNullable<RunState["policy"]["voteTally"]>[number]

const Votes = ({ row, tally }: { readonly row: ProposalRow; readonly tally: Tally | undefined }) => (
  <span className="flex flex-col gap-0.5 whitespace-nowrap">
    <span className="text-good">{row.votesFor} for</span>
    <span className={row.votesAgainst === 0 ? "text-muted" : "text-bad"}>{row.votesAgainst} against</span>
    {row.abstained === 0 ? null : <span className="text-muted">{row.abstained} abstained</span>}
    {tally === undefined ? null : <span className="text-muted">{tally.quorum.required} may vote</span>}
    {tally?.requiredApprovals === undefined ? null : (
      <span className="text-muted">{tally.requiredApprovals} needed</span>
    )}
  </span>
)

const iconOf = ({ kind, tone }: Stance): LucideIcon => {
  if (kind === "objection") return TriangleAlert
  if (tone === "good") return Check
  if (tone === "bad") return X
  return kind === "vote" ? Minus : CircleDot
}

interface CellProps {
  readonly stance: Stance | undefined
  readonly isProposer: boolean
  readonly isSelected: boolean
  readonly onSelect: (index: number) => void
}

const Cell = ({ isProposer, isSelected, onSelect, stance }: CellProps) => {
  if (stance === undefined) return <span className="text-muted">{isProposer ? "proposer" : "–"}</span>
  const Icon = iconOf(stance)
  return (
    <button
      type="button"
      title={stance.reason ?? ""}
      className={`inline-flex flex-col items-center gap-0.5 rounded-md px-2 py-1 ${
        isSelected ? "bg-accent-soft" : "hover:bg-sunken"
      }`}
      onClick={() => onSelect(stance.index)}
    >
      <span
        className={`inline-flex items-center gap-1 font-semibold ${toneText[stance.tone]} ${
          stance.kind === "vote" ? "" : "opacity-90"
        }`}
      >
        <Icon size={15} aria-hidden strokeWidth={stance.kind === "vote" ? 2.6 : 1.8} />
        <UserText text={stance.word} className="max-w-[96px] truncate text-[11px]" />
      </span>
      <span className="text-[11px] text-muted">
        {stance.kind}
        {stance.confidence === undefined ? "" : ` · ${percent(stance.confidence)}`}
      </span>
      {stance.before.length === 0 ? null : <Chip tone="warn">was {stance.before.at(-1)}</Chip>}
    </button>
  )
}

const Legend = () => (
  <p className="text-[12px] text-muted">
    Bold icons are votes, thin icons are opinions or answers. A vote counts more than opinions before or after it.
    Select a cell to see the message.
  </p>
)
