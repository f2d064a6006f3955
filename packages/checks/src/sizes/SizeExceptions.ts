/** A file or a folder that exceeds a bound; it may not exceed its own, `atMost`. */
export interface SizeException {
  readonly path: string
  readonly atMost: number
  readonly reason: string
}

const each = (
  reason: string,
  bounds: ReadonlyArray<readonly [path: string, atMost: number]>
): ReadonlyArray<SizeException> => bounds.map(([path, atMost]) => ({ path, atMost, reason }))

/** Files over the bound of lines. */
export const LONG_FILES: ReadonlyArray<SizeException> = [
  ...each("tests of one subject: to be split by what they prove", [
    ["packages/console/test/browser/Marks.browser.test.ts", 465],
    ["packages/control-plane/test/queries/marks/MarkReportsHttp.integration.test.ts", 405],
    ["packages/control-plane/test/queries/query/Search.integration.test.ts", 430]
  ])
]

/** Files with a generator over the bound of lines. */
export const LONG_GENERATORS: ReadonlyArray<SizeException> = [
  ...each("makes a service with its state and all its methods: to be split into functions", [
    ["packages/control-plane/src/event-log/append/AppendQueue.ts", 160],
    ["packages/control-plane/src/event-log/append/AppendTransaction.ts", 220],
    ["packages/control-plane/src/event-log/append/GroupCommit.ts", 150],
    ["packages/control-plane/src/event-log/append/InsertEvents.ts", 200],
    ["packages/control-plane/src/event-log/runs/RunAdministration.ts", 130],
    ["packages/control-plane/src/queries/runs/RunList.ts", 130],
    ["packages/control-plane/src/event-log/runs/RunRepository.ts", 150],
    ["packages/control-plane/src/event-log/seal/RunSeals.ts", 140],
    ["packages/control-plane/src/features/alerts/AlertClock.ts", 160],
    ["packages/control-plane/src/features/alerts/AlertCommands.ts", 130],
    ["packages/control-plane/src/features/alerts/AlertRules.ts", 200],
    ["packages/control-plane/src/features/archive/ArchiveCompaction.ts", 180],
    ["packages/control-plane/src/features/archive/ArchiveState.ts", 170],
    ["packages/control-plane/src/features/archive/read/ColdLog.ts", 130],
    ["packages/control-plane/src/features/ingest/Receiver.ts", 170],
    ["packages/control-plane/src/features/ingest/SpanInbox.ts", 150],
    ["packages/control-plane/src/features/ingest/SpanProcessor.ts", 150],
    ["packages/control-plane/src/features/ingest/TraceRuns.ts", 180],
    ["packages/control-plane/src/features/receipts/ReceiptFetcher.ts", 140],
    ["packages/control-plane/src/features/webhooks/WebhookRepository.ts", 180],
    ["packages/control-plane/src/marks/Marks.ts", 170],
    ["packages/control-plane/src/observe/ObservedRuns.ts", 180],
    ["packages/control-plane/src/observe/Observers.ts", 160],
    ["packages/control-plane/src/observe/RunWriter.ts", 180],
    ["packages/control-plane/src/observe/SessionDiscovery.ts", 170],
    ["packages/control-plane/src/observe/interpret.ts", 180],
    ["packages/control-plane/src/observe/sessions/SessionDirectory.ts", 150],
    ["packages/database/src/DatabaseClient.ts", 140],
    ["packages/control-plane/src/platform/postgres/backup/Restore.ts", 140],
    ["packages/control-plane/src/queries/dashboard/DashboardRepository.ts", 140],
    ["packages/control-plane/src/queries/decisions/Decisions.ts", 140],
    ["packages/control-plane/src/queries/events/CrossRunEventBlocks.ts", 130],
    ["packages/control-plane/src/queries/events/CrossRunEvents.ts", 130],
    ["packages/control-plane/src/runs/CancelRun.ts", 150],
    ["packages/control-plane/src/streams/log/LogTail.ts", 130],
    ["packages/launcher/src/agents/AgentHost.ts", 170],
    ["packages/launcher/src/catalog/PackLoader.ts", 170],
    ["packages/launcher/src/examples/ExampleRuns.ts", 220],
    ["packages/sandbox/src/kernel/Kernel.ts", 140]
  ]),
  ...each("one test of many requests, a table of them", [
    ["packages/control-plane/test/contract/Described.integration.test.ts", 180],
    ["packages/control-plane/test/queries/marks/MarkReportsHttp.integration.test.ts", 160]
  ])
]

/** Folders over the bound of files. */
export const LARGE_FOLDERS: ReadonlyArray<SizeException> = [
  ...each("one page a subject, and an index that lists them", [
    ["docs/reference", 37],
    ["docs/guides", 28]
  ]),
  ...each("one file a change of the schema", [["migrations", 40]]),
  ...each("one file an agent", [["packs/_agents/profiles", 30]]),
  ...each("the edge of both services: to be sorted into edge and answers", [["packages/server/src/http", 30]])
]

/** A name that several files of a package have. */
export interface SharedName {
  readonly package: string
  readonly name: string
  readonly reason: string
}

const named = (home: string, reason: string, names: ReadonlyArray<string>): ReadonlyArray<SharedName> =>
  names.map((name) => ({ package: home, name, reason }))

export const SHARED_NAMES: ReadonlyArray<SharedName> = [
  ...named("control-plane", "a helper of tests with the name of what it makes", [
    "ControlPlane.ts",
    "AlertRules.ts",
    "Webhooks.ts",
    "Observation.ts",
    "Backtests.ts",
    "Runs.ts"
  ]),
  ...named("domain", "a helper of tests with the name of what it makes", ["Summary.ts", "Truth.ts"]),
  ...named("control-plane", "tests of folders with files of one name, or of one kind", ["KillSteps.ts"]),
  ...named("domain", "tests of folders with files of one name, or of one kind", ["Properties.test.ts"]),
  ...named("stack", "tests of folders with files of one name, or of one kind", ["RealRuntime.runtime.test.ts"])
]
