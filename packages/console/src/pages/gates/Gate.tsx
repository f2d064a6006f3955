import type { ControlPlaneCalls, Run } from "@runplane/api"
import { inferOutcome } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { useEffect, useState } from "react"
import { UserText } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { DecisionCell } from "../../ui/decision/DecisionCell.tsx"
import { useTitle } from "../../ui/hooks.ts"
import { Loaded, Panel, Sheet, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { agreementColumns, Flips, OutcomeBars, StabilityFacts } from "../../ui/Stability.tsx"
import { Empty } from "../../ui/States.tsx"
import { newestRuns } from "../../ui/search/useRunSearch.ts"
import { useRead } from "../../ui/useRead.ts"
import { outcomeWords } from "../../view/decision/OutcomeWords.ts"
import { counted, duration, listedDollars, middleCut, whole } from "../../view/format/Format.ts"
import { gateSearch, runsPage, scenarioSearch, stabilityPage } from "../../view/gates/GateLinks.ts"
import {
  casesOf,
  type GateCaseRuns,
  type GateRun,
  groupRows,
  progressText,
  type StabilityRow
} from "../../view/gates/Gates.ts"
import { runFacts } from "../../view/run/RunFacts.ts"

/** Runs of one page of the service. */
const PAGE = 200
/** Most runs of a gate that the page reads, as many as a stability counts. */
const MOST_RUNS = 1_000
const OPEN_MS = 3_000
/** A gate whose runs have all ended can start more. */
const ENDED_MS = 15_000

/** The newest runs of a gate, a page at a time. */
const readRuns = Effect.fnUntraced(function* (api: ControlPlaneCalls, gateId: string) {
  const runs: Array<Run> = []
  let total = 1
  while (runs.length < Math.min(total, MOST_RUNS)) {
    const query = { ...newestRuns(PAGE), offset: runs.length, q: gateSearch(gateId), include: ["decision"] } as const
    const page = yield* api.runs.list({ query })
    if (page.data.length === 0) break
    runs.push(...page.data)
    total = page.total
  }
  // A run that was created between two pages moves another one into both.
  return { runs: [...new Map(runs.map((run) => [run.id, run])).values()], total }
})

/** The runs of a gate as one page, case by case. */
export default function Gate({ gateId }: { readonly gateId: string }) {
  useTitle(`Gate ${gateId}`)
  const [everyMs, setEveryMs] = useState(OPEN_MS)
  const read = useRead(["gate", gateId], (api) => readRuns(api, gateId), { everyMs })
  const cases = casesOf(read.data?.runs ?? [])
  const total = cases.reduce((sum, one) => sum + one.total, 0)
  const ended = cases.reduce((sum, one) => sum + one.ended, 0)
  const isOpen = ended < total
  useEffect(() => setEveryMs(isOpen ? OPEN_MS : ENDED_MS), [isOpen])
  return (
    <Sheet
      title={`Gate ${gateId}`}
      note={
        total === 0 ? undefined : (
          <span aria-live="polite" data-progress={isOpen ? "open" : "ended"}>
            {progressText({ ended, total })}
            {isOpen ? ", the gate still runs" : ""}
          </span>
        )
      }
      actions={
        <>
          <TextLink href={runsPage(gateSearch(gateId))}>All runs</TextLink>
          <TextLink href="/gates">Recent gates</TextLink>
        </>
      }
    >
      <Loaded read={read} what="The runs of the gate cannot be read" rows={8} height={40}>
        {({ runs, total: found }) =>
          cases.length === 0 ? (
            <Empty title="No run of this gate">
              <code className="font-mono text-[12px]">runplane gate</code> prints the id of a gate. Its runs appear here
              as it starts them.
            </Empty>
          ) : (
            <>
              {found > runs.length ? (
                <p className="text-muted">Of the newest {whole(runs.length)} runs; there are more.</p>
              ) : null}
              {cases.map((one) => (
                <Case key={one.name} gateId={gateId} one={one} />
              ))}
            </>
          )
        }
      </Loaded>
    </Sheet>
  )
}

/** Runs of a case that the page lists. */
const LISTED = 12

const Case = ({ gateId, one }: { readonly gateId: string; readonly one: GateCaseRuns }) => {
  const { ended, hasVariants, name, runs } = one
  const q = gateSearch(gateId, name)
  // The number of the ended runs is part of the key: the answer changes only with it.
  const stability = useRead(["gate case", q, ended], (api) =>
    api.decisions.stability({ query: { q, count: "decided", ...(hasVariants && { by: "variant" }) } })
  )
  const [first] = runs
  const scenario = first === undefined ? undefined : runFacts(first.run).scenario
  return (
    <Panel
      title={name}
      note={progressText(one)}
      actions={
        <>
          <TextLink href={runsPage(q)}>Runs</TextLink>
          {scenario === undefined ? null : (
            <TextLink href={stabilityPage(scenarioSearch(scenario))}>Stability of the scenario</TextLink>
          )}
        </>
      }
    >
      <Loaded read={stability} what="The outcomes cannot be read" rows={4} height={32}>
        {(found) => (
          <>
            <div className="grid lg:grid-cols-2">
              <OutcomeBars stability={found} />
              <StabilityFacts stability={found} />
            </div>
            <div className="border-t border-line">
              <Flips {...found} />
            </div>
            {hasVariants ? (
              <div className="border-t border-line">
                <Table
                  label={`Variants of ${name}`}
                  columns={VARIANT_COLUMNS}
                  rows={groupRows(found, "variant")}
                  keyOf={({ value }) => value}
                />
              </div>
            ) : null}
          </>
        )}
      </Loaded>
      <div className="border-t border-line">
        <Table
          label={`Runs of ${name}`}
          columns={runColumns(hasVariants)}
          rows={runs.slice(0, LISTED)}
          keyOf={({ run }) => run.id}
        />
        {runs.length > LISTED ? (
          <p className="px-3 py-2 text-muted">
            The first {LISTED} of <TextLink href={runsPage(q)}>{counted(runs.length, "run")}</TextLink>
          </p>
        ) : null}
      </div>
    </Panel>
  )
}

const VARIANT_COLUMNS: ReadonlyArray<TableColumn<StabilityRow>> = [
  {
    title: "Variant",
    className: "max-w-[280px] min-w-[96px]",
    cell: ({ value }) => <UserText text={value === "" ? "none" : value} />
  },
  ...agreementColumns
]

const runColumns = (hasVariants: boolean): ReadonlyArray<TableColumn<GateRun>> => [
  {
    title: "Run",
    cell: ({ run }) => (
      <TextLink href={`/runs/${run.id}`} className="font-mono text-[12px] whitespace-nowrap">
        {middleCut(run.id)}
      </TextLink>
    )
  },
  {
    title: "Decision",
    className: "max-w-[280px]",
    cell: ({ run }) => {
      const { action } = runFacts(run)
      const text = action === undefined ? undefined : outcomeWords({ action, positive: inferOutcome(action) })
      return (
        <>
          <DecisionCell run={run} isWorded />
          {text === undefined || text === run.decision?.word ? null : (
            <UserText text={text} className="line-clamp-1 text-[12px] text-soft" />
          )}
        </>
      )
    }
  },
  ...(hasVariants
    ? [
        {
          title: "Variant",
          from: "md",
          className: "max-w-[220px]",
          cell: ({ variant }: GateRun) => <UserText text={variant ?? "–"} className="line-clamp-1" />
        } as const
      ]
    : []),
  { title: "Seed", from: "sm", align: "right", cell: ({ seed }) => <UserText text={seed ?? "–"} className="num" /> },
  {
    title: "Duration",
    from: "md",
    align: "right",
    cell: ({ run }) => {
      const { durationMs } = runFacts(run)
      return <span className="num whitespace-nowrap">{durationMs === undefined ? "–" : duration(durationMs)}</span>
    }
  },
  {
    title: "Cost",
    from: "sm",
    align: "right",
    cell: ({ run }) => {
      const { cost } = runFacts(run)
      return cost === undefined ? "–" : <CostText cost={cost} say={listedDollars} />
    }
  }
]
