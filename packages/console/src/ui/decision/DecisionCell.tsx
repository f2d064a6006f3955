import type { Run } from "@runplane/api"
import { listedVotes } from "../../view/decision/ListedVotes.ts"
import { verdictTone } from "../../view/decision/VerdictTone.ts"
import { StatusBadge, toneText, UserText } from "../basics.tsx"
import { Glyph } from "./Glyph.tsx"

interface DecisionCellProps {
  readonly run: Run
  /** Whether the word is shown on narrow screens as well. */
  readonly isWorded?: boolean
}

/** The verdict of a run as glyph and word, its votes as figures, and its status where that is not the usual one. */
export const DecisionCell = ({ isWorded = false, run }: DecisionCellProps) => {
  const { decision, errorCode, modeName, status } = run
  if (decision === undefined) {
    return (
      <span className="flex min-w-0 flex-col leading-tight">
        <StatusBadge status={status} />
        {errorCode === undefined ? null : (
          <UserText text={errorCode} className="truncate text-[12px] text-bad max-md:hidden" />
        )}
      </span>
    )
  }
  const { voters, votes } = listedVotes(decision, modeName)
  const isUsual = status === "completed" || (status === "running" && decision.verdict === "open")
  return (
    <span className="flex min-w-0 items-center gap-2.5" data-verdict={decision.verdict}>
      <Glyph voters={voters} />
      <span className={`flex min-w-0 flex-col leading-tight ${isWorded ? "" : "max-md:sr-only"}`}>
        <span className={`font-medium whitespace-nowrap ${toneText[verdictTone(decision.verdict)]}`}>
          {decision.word}
          {votes === undefined ? null : (
            <span className="num ml-1.5 font-normal text-muted" title={decision.counts}>
              {votes}
            </span>
          )}
        </span>
        {isUsual ? null : (
          <span className="text-[12px]">
            <StatusBadge status={status} />
          </span>
        )}
      </span>
    </span>
  )
}
