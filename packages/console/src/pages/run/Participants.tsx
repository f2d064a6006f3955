import { isTerminal, type ParticipantStatus } from "@runplane/domain"
import { Check, Circle, CircleDashed, Clock, History, type LucideIcon, MinusCircle } from "lucide-react"
import { useMemo } from "react"
import { Avatar, Chip, Time, toneText, UserText } from "../../ui/basics.tsx"
import { MarkLines } from "../../ui/marks/MarkChip.tsx"
import { useMarksHere } from "../../ui/marks/MarksHere.ts"
import { counted, modeLabel } from "../../view/format/Format.ts"
import { participantStatusLabel } from "../../view/format/Status.ts"
import { lastBallots } from "../../view/run/LastBallots.ts"
import type { ShownRun } from "./useShown.ts"

const icons: Readonly<Record<ParticipantStatus, LucideIcon>> = {
  idle: CircleDashed,
  active: Circle,
  waiting: Clock,
  completed: Check,
  failed: History,
  skipped: MinusCircle
}

const BALLOT_MODES: ReadonlySet<string> = new Set(["decision", "quorum"])
const BALLOTS = {
  allow: { tone: "good", word: "For" },
  deny: { tone: "bad", word: "Against" },
  abstained: { tone: "calm", word: "Abstained" },
  none: { tone: "calm", word: "Did not vote" }
} as const

/** Characters of the comment of a mark. */
const COMMENT_LENGTH = 80
/** Drawn participants, the first ones. */
const MOST = 300

/** The participants, each with its last activity. */
export default function Participants({ shown }: { readonly shown: ShownRun }) {
  const { participants, run } = shown.state
  const marks = useMarksHere()?.placed.byParticipant
  // A participant that never voted has not done its part, whatever its status says.
  const { events, start } = shown
  const hasBallots = start === 0 && isTerminal(run.status) && BALLOT_MODES.has(modeLabel(run.modeName ?? ""))
  const ballots = useMemo(() => (hasBallots ? lastBallots(events) : undefined), [hasBallots, events])
  return (
    <div className="p-3">
      <h2 className="label mb-2">{counted(participants.length, "participant")}</h2>
      <ul className="flex flex-col gap-2.5">
        {participants.slice(0, MOST).map(({ latestActivityAt, latestSummary, participantId, role, status }) => {
          const ballot = ballots?.get(participantId)
          const { tone, word } =
            ballots === undefined ? participantStatusLabel(status) : (BALLOTS[ballot ?? "none"] ?? BALLOTS.none)
          const Icon = ballots === undefined ? icons[status] : ballot === undefined ? MinusCircle : Check
          return (
            <li key={participantId} className="flex gap-2">
              <Avatar name={participantId} index={shown.participantIndex(participantId)} />
              <div className="min-w-0 flex-1 leading-tight">
                <p className="truncate font-medium" title={participantId}>
                  <UserText text={participantId} />
                </p>
                <p className={`mt-0.5 flex items-center gap-1 text-[12px] ${toneText[tone]}`}>
                  <Icon size={12} aria-hidden className="shrink-0" /> {word}
                  {participantId === run.initiator ? <Chip>initiator</Chip> : null}
                  {role === undefined ? null : <UserText text={role} className="truncate text-muted" />}
                </p>
                {latestActivityAt === undefined ? null : (
                  <p className="mt-0.5 truncate text-[12px] text-muted">
                    {latestSummary} <Time at={latestActivityAt} />
                  </p>
                )}
                <MarkLines marks={marks?.get(participantId)} length={COMMENT_LENGTH} />
              </div>
            </li>
          )
        })}
      </ul>
      {participants.length > MOST ? (
        <p className="mt-3 text-muted">and {counted(participants.length - MOST, "other")}</p>
      ) : null}
    </div>
  )
}
