import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** Recorded exports of real emitters, beside the project; absent in most clones. */
const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../../../../../shared/data/otlp")

/** A request as its emitter sent it. */
export interface RecordedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
}

export interface RecordedRun {
  readonly traceIds: ReadonlyArray<string>
  readonly status: "completed" | "failed"
  readonly participants: ReadonlyArray<string>
  readonly totals: { readonly input: number; readonly output: number }
}

export interface Recording {
  /** `emitter/variation` */
  readonly name: string
  readonly requests: ReadonlyArray<RecordedRequest>
  readonly runs: ReadonlyArray<RecordedRun>
}

const SENT_HEADERS = ["content-type", "content-encoding"]

const requestOf = (folder: string, file: string): RecordedRequest => {
  const { headers, path }: RecordedRequest = JSON.parse(
    readFileSync(join(folder, file.replace(".bin", ".headers.json")), "utf8")
  )
  const sent = Object.entries(headers).filter(([name]) => SENT_HEADERS.includes(name))
  return { path, headers: Object.fromEntries(sent), body: Uint8Array.from(readFileSync(join(folder, file))) }
}

const recordingOf = (name: string): Recording => {
  const folder = join(ROOT, name)
  const requests = join(folder, "requests")
  const { runs }: Pick<Recording, "runs"> = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"))
  const files = readdirSync(requests).filter((file) => file.endsWith(".bin"))
  return { name, requests: files.toSorted().map((file) => requestOf(requests, file)), runs }
}

/** All recordings; none where they are absent. */
export const recordings = (): ReadonlyArray<Recording> =>
  existsSync(ROOT)
    ? readdirSync(ROOT, { withFileTypes: true })
        .filter((emitter) => emitter.isDirectory())
        .flatMap(({ name }) => readdirSync(join(ROOT, name)).map((variation) => recordingOf(`${name}/${variation}`)))
    : []
