import { ArrowLeftRight } from "lucide-react"
import { Link } from "wouter"
import { toneText, UserText } from "../../ui/basics.tsx"
import { Glyph } from "../../ui/decision/Glyph.tsx"
import { Loaded, Panel, TextLink } from "../../ui/kit.tsx"
import { NameText } from "../../ui/NameText.tsx"
import { Failure } from "../../ui/States.tsx"
import { dateTime } from "../../view/format/Format.ts"
import type { Tone } from "../../view/format/Status.ts"
import {
  type DecidedRow,
  type DecidedRun,
  decidedNote,
  decidedRows,
  decidedTitle,
  type Flip,
  NO_SCENARIO
} from "../../view/overview/Decided.ts"
import { type OverviewRange, runsLink } from "./OverviewQuery.ts"
import { DECIDED, type useDecided } from "./useDecided.ts"

const TITLES = { "1h": "the last hour", "6h": "the last 6 hours", "7d": "the last 7 days", "30d": "the last 30 days" }

/** Classes of the bar below a glyph. */
const BARS: Readonly<Record<Tone, string>> = {
  good: "bg-good",
  bad: "bg-bad",
  warn: "bg-warn",
  accent: "bg-accent",
  calm: "bg-calm"
}

interface DecidedProps {
  readonly range: OverviewRange
  readonly found: ReturnType<typeof useDecided>
}

/** What was decided: a row of glyphs for each scenario, in time, and the cases that came out otherwise than before. */
export const Decided = ({ found: { before, decided, flips, read, total }, range }: DecidedProps) => {
  const { window } = range
  return (
    <Panel
      title={window === "24h" ? "Decided today" : `Decided in ${window === undefined ? "this time" : TITLES[window]}`}
      note={
        read.data === undefined
          ? undefined
          : `${decidedNote(decided.length, total)}${window === "24h" ? " of the last 24 hours" : ""}`
      }
      actions={<TextLink href={runsLink(range, DECIDED)}>All decisions</TextLink>}
    >
      <Loaded read={read} what="The decisions cannot be read" rows={3} height={44}>
        {() => (
          <>
            {before.isError ? (
              <Failure
                what="The decisions of the week before cannot be read"
                error={before.error}
                retry={() => void before.refetch()}
              />
            ) : null}
            {flips.length === 0 ? null : (
              <ul aria-label="Decided otherwise than in the week before" className="border-b border-line bg-warn-soft">
                {flips.map((flip) => (
                  <FlipLine key={flip.case} flip={flip} />
                ))}
              </ul>
            )}
            {decided.length === 0 ? (
              <p className="px-3 py-4 text-muted">Nothing was decided in this time.</p>
            ) : (
              <ul aria-label="Decisions by scenario">
                {decidedRows(decided).map((row) => (
                  <ScenarioRow key={row.scenario} row={row} range={range} />
                ))}
              </ul>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

/** "Fail over checkout?: Declined; in the week before Approved in 5 of 5". */
const FlipLine = ({ flip: { earlier, earlierAt, isNow, question, run, was } }: { readonly flip: Flip }) => (
  <li className="flex items-start gap-2 px-3 py-2" data-decision-flip>
    <ArrowLeftRight size={15} aria-hidden className="mt-0.5 shrink-0 text-warn" />
    <span className="min-w-0">
      <Link href={`/runs/${run}`} className="font-medium hover:underline">
        <UserText text={question} />
      </Link>
      <span className="text-soft">
        {": "}
        <span className={`font-medium ${toneText[isNow.tone]}`}>{isNow.word}</span>
        {isNow.share === "" ? "" : ` in ${isNow.share}`}; in the week before{" "}
        <span className={`font-medium ${toneText[was.tone]}`}>{was.word}</span>
        {was.share === "" ? "" : ` in ${was.share}`}
        {", "}last on {dateTime(earlierAt)}.{" "}
        <TextLink
          href={`/compare?${new URLSearchParams({ left: earlier, right: run }).toString()}`}
          className="whitespace-nowrap"
        >
          Compare
        </TextLink>
      </span>
    </span>
  </li>
)

const ScenarioRow = ({ range, row }: { readonly row: DecidedRow; readonly range: OverviewRange }) => (
  <li className="grid gap-x-3 gap-y-1 border-b border-line px-3 py-2 last:border-0 md:grid-cols-[minmax(180px,260px)_1fr]">
    <span className="flex min-w-0 flex-col">
      <TextLink
        href={runsLink(
          range,
          row.scenario === NO_SCENARIO ? `-has:scenario ${DECIDED}` : DECIDED,
          row.scenario === NO_SCENARIO ? undefined : row.scenario
        )}
        className="flex min-w-0"
      >
        <NameText text={row.scenario} />
      </TextLink>
      <span className="text-[12px] text-muted">{row.summary}</span>
    </span>
    <ol className="flex min-w-0 flex-wrap items-start gap-1" aria-label={`Decisions of ${row.scenario}`}>
      {row.runs.map((run) => (
        <li key={run.id}>
          <DecidedGlyph run={run} />
        </li>
      ))}
    </ol>
  </li>
)

const DecidedGlyph = ({ run }: { readonly run: DecidedRun }) => (
  <Link
    href={`/runs/${run.id}`}
    title={`${decidedTitle(run)}\n${dateTime(run.at)}`}
    aria-label={decidedTitle(run)}
    data-decided={run.verdict}
    className={`relative flex h-[30px] w-[36px] flex-col items-center justify-between rounded px-0.5 pt-1 pb-0.5 hover:bg-sunken ${
      run.isFlip ? "bg-warn-soft ring-1 ring-warn" : ""
    }`}
  >
    <Glyph voters={run.voters} size={30} />
    <span aria-hidden className="flex h-1.5 w-full items-center justify-center">
      {run.tone === "bad" ? (
        // A rejection is seen without its colour too: a bar that is broken.
        <>
          <span className="h-1 w-2.5 rounded-full bg-bad" />
          <span className="w-1" />
          <span className="h-1 w-2.5 rounded-full bg-bad" />
        </>
      ) : (
        <span className={`h-1 rounded-full ${run.tone === "warn" ? "w-2.5" : "w-6"} ${BARS[run.tone]}`} />
      )}
    </span>
  </Link>
)
