import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import type { Telemetry } from "@runplane/domain"
import { readJson, readProtobuf } from "./Wire.ts"

/** Recorded exports of real emitters, beside the project; absent in most clones. */
const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../../../../../shared/data/otlp")

export interface ExpectedUsage {
  readonly input: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly output: number
  readonly reasoning?: number
}

export interface ExpectedRun {
  readonly conversation: string
  /** US dollars, as the emitter states the cost of all calls. */
  readonly costUsd?: number
  readonly traceIds: ReadonlyArray<string>
  readonly runName: string | null
  readonly status: "completed" | "failed"
  readonly error?: string
  readonly finalAnswer: string | null
  readonly conversationId?: string
  readonly participants: ReadonlyArray<string>
  readonly agentInvocations: ReadonlyArray<string>
  readonly llmCalls: ReadonlyArray<{
    readonly agent: string
    readonly requestModel: string
    readonly responseModel: string
    readonly ok: boolean
    readonly usage?: ExpectedUsage
  }>
  readonly totals: ExpectedUsage
  readonly toolCalls: ReadonlyArray<{
    readonly name: string
    readonly nameOnTheWire?: string
    readonly agent: string
    readonly ok: boolean
    readonly error?: string
    readonly isHandoff?: boolean
    readonly spanOnTheWire?: boolean
  }>
  readonly handoffs: ReadonlyArray<{ readonly from: string; readonly to: string }>
}

export interface Expected {
  readonly runs: ReadonlyArray<ExpectedRun>
  /** Such as `a/coordinator#0: reasoning 16`. */
  readonly tokensNotOnTheWire: ReadonlyArray<string>
}

export interface GoldenFolder {
  /** `emitter/variation` */
  readonly name: string
  readonly requests: ReadonlyArray<ReadonlyArray<Telemetry>>
  readonly expected: Expected
}

const folders = (): ReadonlyArray<string> => {
  if (!existsSync(ROOT)) return []
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((emitter) => emitter.isDirectory())
    .flatMap(({ name }) => readdirSync(join(ROOT, name)).map((variation) => `${name}/${variation}`))
    .toSorted()
}

/** Names of all folders; none where the recordings are absent. */
export const goldenFolders: ReadonlyArray<string> = folders()

const requestOf = (folder: string, file: string): ReadonlyArray<Telemetry> => {
  const header: { path: string; headers: Record<string, string> } = JSON.parse(
    readFileSync(join(folder, file.replace(".bin", ".headers.json")), "utf8")
  )
  if (header.path === "/v1/metrics") return []
  const body = readFileSync(join(folder, file))
  const bytes = header.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body
  if (header.headers["content-type"] === "application/json") return readJson(bytes.toString("utf8"))
  return readProtobuf(bytes, header.path === "/v1/logs" ? "log" : "span")
}

export const readGolden = (name: string): GoldenFolder => {
  const folder = join(ROOT, name, "requests")
  const files = readdirSync(folder).filter((file) => file.endsWith(".bin"))
  return {
    name,
    requests: files.toSorted().map((file) => requestOf(folder, file)),
    expected: JSON.parse(readFileSync(join(ROOT, name, "expected.json"), "utf8"))
  }
}
