import { counted, cut, dollars, NAME_LENGTH, relativeTime, whole } from "../format/Format.ts"
import type { Tone } from "../format/Status.ts"
import { REFUSALS_SEEN } from "../policies/Refusals.ts"

/** What a problem costs while it waits, the dearest first: the order of the list. */
export const WAITS = [
  // No run is recorded, or none can start.
  "service",
  // A rule of the user says that it cannot wait.
  "critical",
  // Agents hold a session that will expire, or spend on an outcome that is out of reach.
  "running",
  // A decision is missing or was refused.
  "ended",
  // A rule of the user says that it can wait.
  "warning",
  // Money is spent, or a receiver lacks events.
  "spending",
  "housekeeping"
] as const
type Wait = (typeof WAITS)[number]

/** A problem that needs a person, with a link. */
export interface Concern {
  readonly id: string
  readonly tone: "bad" | "warn"
  readonly text: string
  readonly href: string
  readonly wait: Wait
}

/** A run without an event for this long is silent. Minutes. */
export const SILENT_MINUTES = 5
/** Rules of open alerts that a line names. */
const MOST_NAMED = 3

/** Some runs among those that a check has looked at. */
export interface Looked {
  readonly ids: ReadonlyArray<string>
  /** Runs that the check has read. */
  readonly looked: number
  /** Runs that it is about. */
  readonly of: number
}

/** The answers of the checks; a member is undefined while it is not read. */
export interface Answers {
  readonly ready: Ready | undefined
  readonly alerts: { readonly total: number; readonly data: ReadonlyArray<OpenAlert> } | undefined
  readonly figures: { readonly failedRuns: number; readonly suspendedRuns: number; readonly lostSessions: number }
  readonly outlier: Outlier | null | undefined
  readonly stuck: Looked | undefined
  readonly silent: Looked | undefined
  readonly refusals: number | undefined
  readonly drift: Drift | undefined
  readonly hooks: ReadonlyArray<Hook> | undefined
}

interface Ready {
  readonly checks: {
    readonly circuitBreaker: string
    readonly database: string
    readonly log: { readonly ok: boolean; readonly detail?: string }
    readonly runtime: { readonly ok: boolean; readonly detail?: string }
    readonly streamConsumer: string
  }
}
interface OpenAlert {
  readonly id: string
  readonly ruleName: string
  readonly severity: string
}
interface Outlier {
  readonly id: string
  readonly costUsd: number
  readonly mean: number
  readonly title: string
}
interface Drift {
  readonly missingFromRuntime: ReadonlyArray<unknown> | null
  readonly untrackedSessions: ReadonlyArray<unknown>
}
interface Hook {
  readonly id: string
  readonly url: string
  readonly active: boolean
  readonly deliveryStats?: { readonly failed: number } | undefined
}

/** The lists of runs that lines of the overview lead to. */
export interface ConcernLinks {
  /** Runs of the time of the page. */
  readonly runs: (search: string) => string
  /** Unfinished runs, the oldest first. */
  readonly unfinished: string
}

/** `3 runs`, or `3 of the 200 oldest runs (of 412)` for a check that has not looked at all of them. */
const amongLooked = ({ ids, looked, of }: Looked, which: string, one: string): string =>
  looked < of
    ? `${whole(ids.length)} of the ${whole(looked)} ${which} ${one}s (of ${whole(of)})`
    : counted(ids.length, one)

/** The problems that the checks have found, the one that costs most to wait first. */
export const concernsOf = (answers: Answers, links: ConcernLinks): ReadonlyArray<Concern> =>
  [...ofService(answers), ...ofRuns(answers, links), ...ofRest(answers)].toSorted(
    (one, other) =>
      WAITS.indexOf(one.wait) - WAITS.indexOf(other.wait) || Number(one.tone !== "bad") - Number(other.tone !== "bad")
  )

const ofService = ({ alerts, ready }: Answers): ReadonlyArray<Concern> => {
  const found: Array<Concern> = []
  const add = (id: string, tone: Concern["tone"], text: string) =>
    found.push({ id, tone, text, href: "/operations", wait: "service" })
  if (ready !== undefined) {
    const { circuitBreaker, database, log, runtime, streamConsumer } = ready.checks
    if (database !== "ok") add("database", "bad", "The database does not answer")
    if (!runtime.ok) add("runtime", "bad", `The runtime does not answer: ${runtime.detail ?? "no reason given"}`)
    if (circuitBreaker !== "CLOSED") add("breaker", "bad", `The circuit breaker is ${circuitBreaker}`)
    if (!log.ok) add("log", "warn", `Events are stored late: ${log.detail}`)
    if (streamConsumer !== "ok") add("streams", "warn", "Streams of runs are not connected")
  }
  const [alert] = alerts?.data ?? []
  if (alerts !== undefined && alert !== undefined) {
    const { data, total } = alerts
    const critical = data.filter(({ severity }) => severity === "critical").length
    const names = [...new Set(data.map(({ ruleName }) => cut(ruleName, NAME_LENGTH)))].slice(0, MOST_NAMED).join(", ")
    found.push({
      id: "alerts",
      tone: critical > 0 ? "bad" : "warn",
      text: `${counted(total, "open alert")}${critical === 0 ? "" : `, ${critical} critical`}: ${names}`,
      href: total === 1 ? `/alerts?id=${alert.id}` : "/alerts",
      wait: critical > 0 ? "critical" : "warning"
    })
  }
  return found
}

const ofRuns = (
  { figures, outlier, refusals, silent, stuck }: Answers,
  links: ConcernLinks
): ReadonlyArray<Concern> => {
  const found: Array<Concern> = []
  const { failedRuns, lostSessions, suspendedRuns } = figures
  if (stuck !== undefined && stuck.ids.length > 0) {
    const [first = ""] = stuck.ids
    found.push({
      ...{ id: "reach", tone: "warn", wait: "running" },
      text: `${amongLooked(stuck, "latest", "running run")} can no longer reach a positive outcome`,
      href: stuck.ids.length === 1 ? `/runs/${first}?view=decision` : "/runs?status=running"
    })
  }
  if (silent !== undefined && silent.ids.length > 0) {
    const [first = ""] = silent.ids
    found.push({
      ...{ id: "silent", tone: "warn", wait: "running" },
      text: `${amongLooked(silent, "oldest", "run")} without an event for ${SILENT_MINUTES} minutes`,
      href: silent.ids.length === 1 ? `/runs/${first}` : links.unfinished
    })
  }
  if (suspendedRuns > 0) {
    found.push({
      ...{ id: "suspended", tone: "warn", wait: "running" },
      text: `${counted(suspendedRuns, "suspended run")} of this time ${suspendedRuns === 1 ? "waits" : "wait"} to be resumed`,
      href: links.runs("status:suspended")
    })
  }
  if (lostSessions > 0) {
    found.push({
      ...{ id: "lost", tone: "bad", wait: "ended" },
      text: `The runtime lost ${counted(lostSessions, "session")} in this time`,
      href: links.runs("errorCode:SESSION_LOST")
    })
  }
  if (failedRuns > 0) {
    found.push({
      ...{ id: "failed", tone: "bad", wait: "ended" },
      text: `${counted(failedRuns, "run")} failed in this time`,
      href: links.runs("status:failed")
    })
  }
  if (refusals !== undefined && refusals > 0) {
    found.push({
      ...{ id: "denied", tone: "warn", wait: "ended" },
      text: `${counted(refusals, "refusal")} by policy on record in this time; ${REFUSALS_SEEN}`,
      href: links.runs("event:policy.denied")
    })
  }
  if (outlier !== undefined && outlier !== null) {
    const { costUsd, id, mean, title } = outlier
    found.push({
      ...{ id: "cost", tone: "warn", wait: "spending" },
      text: `${title} cost ${dollars(costUsd, [mean])}; the mean is ${dollars(mean, [costUsd])}`,
      href: `/runs/${id}?view=cost`
    })
  }
  return found
}

const ofRest = ({ drift, hooks = [] }: Answers): ReadonlyArray<Concern> => {
  const found: Array<Concern> = []
  if (drift !== undefined) {
    const { missingFromRuntime, untrackedSessions } = drift
    const add = (id: string, text: string) =>
      found.push({ id, tone: "warn", text, href: "/operations#drift", wait: "housekeeping" })
    if (missingFromRuntime !== null && missingFromRuntime.length > 0) {
      add("missing", `${counted(missingFromRuntime.length, "run")} whose session is gone`)
    }
    if (untrackedSessions.length > 0) {
      add("untracked", `${counted(untrackedSessions.length, "live session")} without a run`)
    }
  }
  for (const { active, deliveryStats, id, url } of hooks) {
    const failed = deliveryStats?.failed ?? 0
    const href = `/webhooks?id=${id}`
    if (failed > 0) {
      const text = `${counted(failed, "delivery", "deliveries")} to ${url} failed`
      found.push({ id: `hook-${id}`, tone: "warn", text, href, wait: "spending" })
    } else if (!active) {
      const text = `The webhook ${url} is not active`
      found.push({ id: `hook-${id}`, tone: "warn", text, href, wait: "housekeeping" })
    }
  }
  return found
}

/** What the checks together say, in one sentence. */
export interface AttentionSentence {
  readonly tone: Tone
  readonly text: string
  /** `checked 4 s ago`, where the sentence depends on it; it changes each second. */
  readonly age?: string
}

interface Checked {
  readonly concerns: ReadonlyArray<Concern>
  /** Names of the checks that could not be read, or not again. */
  readonly unread: ReadonlyArray<string>
  readonly isPending: boolean
  /** The time of the oldest answer, milliseconds. */
  readonly since: number
  readonly now: number
}

/** `3 things need you`, or `All is well, checked 4 s ago`. It is green only when every check has a current answer. */
export const attentionSentence = ({ concerns, isPending, now, since, unread }: Checked): AttentionSentence => {
  const missing = unread.length === 0 ? "" : `not everything could be read: ${unread.join(", ")}`
  if (concerns.length > 0) {
    const need = concerns.length === 1 ? "1 thing needs you" : `${whole(concerns.length)} things need you`
    const rest = missing !== "" ? `, and ${missing}` : isPending ? " so far" : ""
    return { tone: concerns.some(({ tone }) => tone === "bad") ? "bad" : "warn", text: `${need}${rest}` }
  }
  if (missing !== "") return { tone: "warn", text: `${missing[0]?.toUpperCase() ?? ""}${missing.slice(1)}` }
  if (isPending) return { tone: "calm", text: "Checking whether something needs you" }
  return { tone: "good", text: "All is well", age: `checked ${relativeTime(since, now)}` }
}
