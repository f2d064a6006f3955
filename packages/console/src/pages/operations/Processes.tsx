import type { ProcessReport } from "@runplane/api"
import { Chip, Time, UserText } from "../../ui/basics.tsx"
import { countColumn, Loaded, Panel, Table, type TableColumn } from "../../ui/kit.tsx"
import { useRead } from "../../ui/useRead.ts"
import { counted, duration } from "../../view/format/Format.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { ReadAge } from "./ReadAge.tsx"

const COLUMNS: ReadonlyArray<TableColumn<ProcessReport>> = [
  {
    title: "Process",
    className: "wrap-anywhere",
    cell: ({ isThis, name }) => (
      <span className="inline-flex flex-wrap items-center gap-1.5">
        <UserText text={name} className="font-mono text-[12px]" />
        {isThis ? <Chip tone="accent">this process</Chip> : null}
      </span>
    )
  },
  { title: "Version", from: "md", cell: ({ version }) => version },
  countColumn("Shards", ({ shards }) => shards),
  countColumn("Runs", ({ observedRuns }) => observedRuns),
  {
    title: "Lag",
    align: "right",
    cell: ({ oldestAppendMs }) => (
      <span className="num" title="Age of the oldest pending write to the log">
        {oldestAppendMs === 0 ? "none" : duration(oldestAppendMs)}
      </span>
    )
  },
  countColumn("Reconnects", ({ reconnects }) => reconnects, "sm"),
  { title: "Started", from: "md", cell: ({ startedAt }) => <Time at={startedAt} /> },
  { title: "Last seen", cell: ({ seenAt }) => <Time at={seenAt} /> }
]

/** The processes of the service, and what each of them observes. */
export const Processes = () => {
  const processes = useRead(["processes"], (api) => api.admin.processes(), { everyMs: LATER_MS })
  return (
    <Panel
      title="Processes"
      note={processes.data === undefined ? undefined : counted(processes.data.data.length, "process", "processes")}
      className="xl:col-span-2"
      actions={<ReadAge read={processes} />}
    >
      <Loaded read={processes} what="The processes cannot be listed" rows={3}>
        {({ data }) => (
          <Table
            label="Processes"
            rows={data}
            keyOf={({ name, startedAt }) => `${name} ${startedAt}`}
            columns={COLUMNS}
          />
        )}
      </Loaded>
    </Panel>
  )
}
