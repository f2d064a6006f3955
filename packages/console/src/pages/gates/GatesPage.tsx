import { Suspense } from "react"
import { Time, UserText } from "../../ui/basics.tsx"
import { useTitle } from "../../ui/hooks.ts"
import { Loaded, Panel, Sheet, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { Empty } from "../../ui/States.tsx"
import { newestRuns } from "../../ui/search/useRunSearch.ts"
import { useRead } from "../../ui/useRead.ts"
import { ANY_GATE, gatePage } from "../../view/gates/GateLinks.ts"
import { progressText, type RecentGate, recentGates } from "../../view/gates/Gates.ts"

const Gate = lazily(() => import("./Gate.tsx"))

/** A gate, or without an id the recent ones. */
export default function GatesPage({ gateId }: { readonly gateId: string | undefined }) {
  return gateId === undefined ? (
    <Recent />
  ) : (
    <Suspense fallback={null}>
      <Gate key={gateId} gateId={gateId} />
    </Suspense>
  )
}

const REFRESH_MS = 10_000
/** Runs of gates that the list is made of; one page of the service. */
const NEWEST = 200

const Recent = () => {
  useTitle("Gates")
  const newest = useRead(["recent gates"], (api) => api.runs.list({ query: { ...newestRuns(NEWEST), q: ANY_GATE } }), {
    everyMs: REFRESH_MS
  })
  return (
    <Sheet title="Gates" actions={<TextLink href="/stability">Stability of all runs</TextLink>}>
      <Loaded read={newest} what="The gates cannot be read" rows={6} height={36}>
        {({ data, total }) => {
          const gates = recentGates(data, total > data.length)
          return gates.length === 0 ? (
            <Empty title="No gate yet">
              <code className="font-mono text-[12px]">runplane gate</code> runs the scenarios of a file until it can say
              whether they decide as demanded. Each gate has a page here.
            </Empty>
          ) : (
            <Panel
              title="Recent gates"
              note={total > data.length ? `of the newest ${NEWEST} runs of gates` : undefined}
            >
              <Table label="Gates" columns={COLUMNS} rows={gates} keyOf={({ id }) => id} />
            </Panel>
          )
        }}
      </Loaded>
    </Sheet>
  )
}

const COLUMNS: ReadonlyArray<TableColumn<RecentGate>> = [
  {
    title: "Gate",
    cell: ({ id }) => (
      <TextLink href={gatePage(id)} className="font-mono text-[12px]">
        <UserText text={id} />
      </TextLink>
    )
  },
  {
    title: "Started",
    cell: ({ at, isCut }) => (isCut ? <span className="text-muted">earlier</span> : <Time at={at} />)
  },
  {
    title: "Runs",
    cell: (gate) => (
      <span className="num whitespace-nowrap">
        {gate.isCut ? "over " : ""}
        {progressText(gate)}
      </span>
    )
  },
  {
    title: "Cases",
    from: "sm",
    className: "max-w-[480px]",
    cell: ({ cases }) => <UserText text={cases.join(", ")} className="line-clamp-2" />
  }
]
