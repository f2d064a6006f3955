import { useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import { type Connection, connection, sawDatabase } from "../client/Connection.ts"
import { isRefusal, problemOf } from "../client/Problem.ts"
import { useOwnNow, useStore } from "../ui/hooks.ts"
import { useReady } from "../ui/useReady.ts"
import { counted, duration, relativeTime, whole } from "../view/format/Format.ts"
import { oldestOf, type PolledRead } from "../view/live/Freshness.ts"

/** What the light shows: the connection, and whether the page could refresh its data. */
type Light = Connection | { readonly state: "old" }

interface Words {
  readonly word: string
  readonly tone: string
  readonly title: string
}

const words = (now: Light, age: string, at: number): Words => {
  switch (now.state) {
    case "live":
      return {
        word: `Live · complete to ${whole(now.complete)}`,
        tone: "bg-good",
        title: "The stream is open, and all events up to this index were received"
      }
    case "complete":
      return {
        word: `Complete · ${counted(now.complete, "event")}`,
        tone: "bg-good",
        title: "The run has ended, and all of its events are loaded"
      }
    case "catching-up":
      return {
        word: `Catching up ${counted(now.behind, "event")}`,
        tone: "bg-accent",
        title: "The page is receiving earlier events of the run"
      }
    case "reconnecting":
      return {
        word: `Reconnecting${age}`,
        tone: "bg-warn",
        title: "The stream failed; it resumes at its last event without loss"
      }
    case "polling":
      return { word: "Up to date", tone: "bg-good", title: "The page polls every few seconds" }
    case "old":
      return {
        word: `Not current${age}`,
        tone: "bg-warn",
        title: "The page could not refresh all of its data; it retries"
      }
    case "waiting":
      return {
        word: `No answer for ${wholeSeconds(at - now.since)}`,
        tone: "bg-warn",
        title: "A request has no answer yet, so the page cannot know whether its data are current"
      }
    case "no-database":
      return {
        word: "No database",
        tone: "bg-warn",
        title: "The service answers, and its database does not: the page shows what was read before"
      }
    case "failed":
      return { word: "Not followed", tone: "bg-bad", title: "The service refused the stream of this page" }
    case "unreachable":
      return { word: `No answer${age}`, tone: "bg-bad", title: "The control plane does not answer; the page retries" }
  }
}

/** A time that grows every second, without parts of one. */
const wholeSeconds = (ms: number): string => (ms < 60_000 ? `${Math.floor(ms / 1_000)} s` : duration(ms))

const isGreen = ({ state }: Light) => state === "live" || state === "complete" || state === "polling"

/** What the page reads now. */
const useReads = (): ReadonlyArray<PolledRead> =>
  useQueryClient()
    .getQueryCache()
    .getAll()
    .filter((query) => query.isActive())
    .map((query) => {
      const { observers, state } = query
      const error = state.error ?? state.fetchFailureReason
      // A refusal is an answer: the page shows it.
      const isAnswer = error !== null && isRefusal(problemOf(error, ""))
      const intervals = observers.map(({ options: { refetchInterval: every } }) =>
        typeof every === "function" ? every(query) : every
      )
      return {
        readAt: state.dataUpdatedAt,
        failures: isAnswer ? 0 : state.status === "error" ? Number.POSITIVE_INFINITY : state.fetchFailureCount,
        everyMs: intervals.find((every) => typeof every === "number")
      }
    })

/** The state of the connection. Screen readers announce changes of the state, not every event. */
export default function ConnectionLight() {
  const connected = useStore(connection)
  const now = useOwnNow(1_000)
  const reads = useReads()
  const ready = useReady()
  const database = ready.data?.checks.database
  useEffect(() => {
    if (database !== undefined) sawDatabase(database === "ok")
  }, [database])
  const oldest = oldestOf(reads, now)
  const light: Light = isGreen(connected) && oldest !== undefined ? { state: "old" } : connected
  const since = light.state === "reconnecting" ? light.since : (oldest ?? 0)
  const { title, tone, word } = words(light, since === 0 ? "" : ` · as of ${relativeTime(since, now)}`, now)
  return (
    <span
      title={title}
      className="num inline-flex items-center gap-2 whitespace-nowrap text-soft"
      data-light={light.state}
    >
      <span aria-hidden className={`size-2 shrink-0 rounded-full ${tone}`} />
      {word}
      <span aria-live="polite" className="sr-only">
        {light.state === "live" || light.state === "complete" ? "connected" : light.state.replace("-", " ")}
      </span>
    </span>
  )
}
