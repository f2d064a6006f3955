// The process of a query: DuckDB runs here, so no statement can crash, block or fill the process of the command.
// Nothing of Effect is imported, because it starts for each query.
import { Socket } from "node:net"
import { type DuckDbModule, openDatabase } from "./Database.ts"
import type { EngineOutcome, EngineRequest } from "./Exchange.ts"
import { answerOf } from "./Rows.ts"
import { prepareReading } from "./Statement.ts"
import { removeAndEnd, watchBounds } from "./Watchdog.ts"

/** The descriptor of the outcome. DuckDB may print its log to the standard ones. */
const OUTCOME = 3

const textOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

const load = async (module: string) => {
  try {
    const duckdb: DuckDbModule = await import(module)
    return { _tag: "Loaded", duckdb } as const
  } catch (cause) {
    return { _tag: "Unloadable", message: textOf(cause) } as const
  }
}

const run = async (request: EngineRequest): Promise<EngineOutcome> => {
  const loaded = await load(request.module)
  if (loaded._tag !== "Loaded") return loaded
  const { duckdb } = loaded
  try {
    const connection = await openDatabase(duckdb, request)
    const prepared = await prepareReading(duckdb, connection, request.sql)
    if (prepared === undefined) return { _tag: "Refused" }
    if (prepared.parameterCount > 0) return { _tag: "Parameters" }
    return { _tag: "Answer", answer: await answerOf(duckdb, prepared, request.bounds) }
  } catch (cause) {
    return { _tag: "Fault", message: textOf(cause) }
  }
}

const outcome = new Socket({ fd: OUTCOME, readable: false, writable: true })
let isReported = false
/** The command kills this process when it has read the outcome. */
const report = (reported: EngineOutcome) => {
  if (isReported) return
  isReported = true
  outcome.end(JSON.stringify(reported))
}

let received = ""
let folder: string | undefined
process.stdin.setEncoding("utf8")
process.stdin.on("data", (text: string) => {
  if (folder !== undefined) return
  received += text
  if (!received.endsWith("\n")) return
  // The command of this version wrote it.
  const request: EngineRequest = JSON.parse(received)
  folder = request.folder
  watchBounds(request, report)
  void run(request).then(report)
})
// The command keeps its end open as long as it lives.
process.stdin.on("end", () => removeAndEnd(folder ?? process.cwd()))
