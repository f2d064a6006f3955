import type { CommitteeIndependence, CommitteeWorth } from "@runplane/api"
import * as Effect from "effect/Effect"
import { TriangleAlert } from "lucide-react"
import { UserText } from "../../ui/basics.tsx"
import { useTitle, useUrlState } from "../../ui/hooks.ts"
import { Loaded, Panel, Select, Sheet } from "../../ui/kit.tsx"
import { Empty } from "../../ui/States.tsx"
import { QueryBar } from "../../ui/search/QueryBar.tsx"
import { useRead } from "../../ui/useRead.ts"
import { truthTexts, withoutText } from "../../view/committee/Committee.ts"
import { counted } from "../../view/format/Format.ts"
import { sinceDay } from "../../view/live/SinceDay.ts"
import { textParam, wordParam } from "../../view/query/UrlState.ts"
import { CheaperCommittee } from "./CheaperCommittee.tsx"
import { ErrorMatrix } from "./ErrorMatrix.tsx"
import { SeatTable } from "./SeatTable.tsx"
import { ShadowTable } from "./ShadowTable.tsx"

const SINCE_NAMES = ["all", "90d", "30d", "7d"] as const
const SINCE = { all: "All time", "90d": "Last 90 days", "30d": "Last 30 days", "7d": "Last 7 days" } as const

const params = { q: textParam, since: wordParam(SINCE_NAMES), id: textParam }

/** How many independent voters committees have, and what each is worth (docs/reference/committees.md). */
export default function CommitteePage() {
  const [state, set] = useUrlState(params)
  useTitle("Committee")
  const { q, since } = state
  const from = sinceDay(since)
  const query = { ...(q !== "" && { q }), ...(from !== undefined && { since: from }) }
  const read = useRead(["committees", q, from], (api) =>
    Effect.all(
      { independence: api.committees.independence({ query }), worth: api.committees.seats({ query }) },
      { concurrency: 2 }
    )
  )
  return (
    <Sheet
      title="Committee"
      note={read.data === undefined ? undefined : counted(read.data.independence.data.length, "committee")}
    >
      <div className="flex flex-wrap items-start gap-2">
        <QueryBar
          resource="runs"
          label="Search for runs"
          placeholder="A scenario: scenario:, tags:, policyVersion:"
          value={q}
          onChange={(next) => set({ q: next }, { push: true })}
        />
        <Select
          label="Time"
          value={since}
          options={SINCE_NAMES.map((name) => [name, SINCE[name]] as const)}
          onChange={(next) => set({ since: next }, { push: true })}
        />
      </div>
      <Loaded read={read} what="The committees cannot be read" rows={8} height={40}>
        {({ independence, worth }) => {
          const chosen = independence.data.find(({ committee }) => committee === state.id) ?? independence.data[0]
          if (chosen === undefined) {
            return (
              <Empty
                title={
                  q === "" && from === undefined
                    ? "No committee has ended a run yet"
                    : "No ended run with votes matches"
                }
              >
                {independence.waiting > 0
                  ? `Not counted yet: ${counted(independence.waiting, "ended run")}. The record is still being read.`
                  : "A committee appears once a run with votes has ended. Choose another search, or launch a scenario."}
              </Empty>
            )
          }
          return (
            <>
              {independence.data.length === 1 ? null : (
                <Select
                  label="Committee"
                  className="max-w-full"
                  value={chosen.committee}
                  options={independence.data.map(({ committee, participants, runs }) => [
                    committee,
                    `${participants.join(", ")} (${counted(runs, "run")})`
                  ])}
                  onChange={(id) => set({ id }, { push: true })}
                />
              )}
              <Limits {...independence} />
              <Figures
                key={chosen.committee}
                found={chosen}
                worth={worth.data.find(({ committee }) => committee === chosen.committee)}
                q={q}
              />
            </>
          )
        }}
      </Loaded>
    </Sheet>
  )
}

/** What the answer leaves out. */
const Limits = ({ truncated, waiting }: { readonly truncated: boolean; readonly waiting: number }) => (
  <>
    {truncated ? <p className="text-muted">Of the latest runs, or the largest committees: there are more.</p> : null}
    {waiting === 0 ? null : (
      <p className="text-muted">{counted(waiting, "ended run")} not counted yet: the record is still being read.</p>
    )}
  </>
)

interface FiguresProps {
  readonly found: CommitteeIndependence
  readonly worth: CommitteeWorth | undefined
  readonly q: string
}

const Figures = ({ found, q, worth }: FiguresProps) => {
  const without = worth === undefined ? undefined : withoutText(worth)
  const { bias, share } = truthTexts(found)
  return (
    <>
      <section aria-label="In one sentence" className="panel flex flex-col gap-1.5 px-4 py-3">
        <p className="text-[17px] font-semibold tracking-tight wrap-anywhere" data-summary>
          {found.summary}
          {without === undefined ? null : <span className="block text-[14px] font-normal text-soft">{without}</span>}
        </p>
        <p className="text-muted">
          Independent votes measure how much the seats err together, not how often they are right. {share}
        </p>
        {bias === undefined ? null : (
          <p className="flex items-start gap-1.5 text-warn">
            <TriangleAlert size={14} aria-hidden className="mt-0.5 shrink-0" /> <span>{bias}</span>
          </p>
        )}
        {found.sharedModels.map(({ model, seats }) => (
          <Shared key={`model ${seats.join()}`} what="model" seats={seats} name={model} />
        ))}
        {found.sharedPrompts.map(({ promptHash, seats }) => (
          <Shared key={`prompt ${seats.join()}`} what="prompt" seats={seats} name={promptHash} />
        ))}
      </section>
      <div className="grid items-start gap-3 2xl:grid-cols-[minmax(320px,2fr)_3fr]">
        <ErrorMatrix found={found} />
        {worth === undefined ? (
          <Panel title="What each seat is worth">
            <Empty title="No run can be counted again">Each run needs the rules of its policy on record.</Empty>
          </Panel>
        ) : (
          <SeatTable found={found} worth={worth} />
        )}
      </div>
      {worth === undefined || worth.shadows.length === 0 ? null : <ShadowTable found={found} worth={worth} />}
      <CheaperCommittee q={q} found={found} />
    </>
  )
}

interface SharedProps {
  readonly what: "model" | "prompt"
  readonly seats: ReadonlyArray<string>
  readonly name: string
}

const Shared = ({ name, seats, what }: SharedProps) => (
  <p className="flex items-start gap-1.5 text-warn">
    <TriangleAlert size={14} aria-hidden className="mt-0.5 shrink-0" />
    <span className="wrap-anywhere">
      The same {what} is behind <UserText text={seats.join(" and ")} />: <UserText text={name} />. A likely reason of
      errors together.
    </span>
  </p>
)
