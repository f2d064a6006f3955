// What the recorder of the examples calls services with, and how it shortens their answers.

/** Entries of a list that are kept. */
const KEPT = 2
/** Metrics that are kept. */
const KEPT_METRICS = /\b(runplane_build_info|run_state_transitions_total|circuit_breaker_state)\b/

export type Json = ReturnType<typeof JSON.parse>

export interface Recording {
  request?: Json
  answers?: Record<string, { contentType: string; summary?: string; value: Json }>
}

export const book = () => ({}) as Record<string, Recording>

interface Call {
  readonly body?: Json
  /** Name and summary of the answer where an operation has several. */
  readonly name?: string
  readonly summary?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly cut?: (value: Json) => Json
}

export const fetched = async (base: string, method: string, path: string, body?: Json, headers = {}) => {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  const contentType = response.headers.get("content-type") ?? ""
  return { contentType, value: contentType.startsWith("application/json") && text !== "" ? JSON.parse(text) : text }
}

/** Frames of an event stream in an example. */
const KEPT_FRAMES = 8

export const keptMetrics = (text: string) =>
  `${text
    .split("\n")
    .filter((line) => KEPT_METRICS.test(line))
    .join("\n")}\n`

export const recorder =
  (base: string, kept: Record<string, Recording>) =>
  async (
    id: string,
    method: string,
    path: string,
    { body, cut = shortened, headers, name = "recorded", summary }: Call = {}
  ) => {
    const { contentType, value } = await fetched(base, method, path, body, headers)
    const recording: Recording = kept[id] ?? {}
    if (body !== undefined) recording.request = body
    if (contentType !== "") {
      const [media = ""] = contentType.split(";")
      recording.answers = {
        ...recording.answers,
        [name]: { contentType: media, ...(summary && { summary }), value: cut(value) }
      }
    }
    kept[id] = recording
    return value
  }

/** The value with its lists cut. */
const shortened = (value: Json): Json => {
  if (Array.isArray(value)) return value.slice(0, KEPT).map(shortened)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]))
}

export const shortenedLines = (text: string) =>
  text
    .split("\n")
    .map((line) => (line === "" ? line : JSON.stringify(shortened(JSON.parse(line)))))
    .join("\n")

/** The first frames of an event stream. */
export const beginningOf = (text: string) => text.split("\n\n").slice(0, KEPT_FRAMES).join("\n\n").concat("\n\n")

export const readStream = async (url: string, enough: (text: string) => boolean) => {
  const abort = new AbortController()
  const response = await fetch(url, { signal: abort.signal })
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (enough(text)) break
  }
  abort.abort()
  return text
}

/**
 * The runtime where it is by default, wherever it was while recording, the webhook's receiver where one could be, and
 * the process by a name that reveals nothing of the machine.
 */
export const published = (text: string) =>
  text
    .replaceAll("http://127.0.0.1:9/hooks/runs", "https://example.org/hooks/runs")
    .replaceAll("ECONNREFUSED 127.0.0.1:9", "ECONNREFUSED 192.0.2.10:443")
    .replaceAll(/"name": "[^"]+:\d+"/g, '"name": "control-plane:17"')
    .replaceAll(/connected to 127\.0\.0\.1:\d+/g, "connected to 127.0.0.1:50051")
