import type { Run } from "@runplane/api"
import type { TimeSpan } from "../charts/Series.ts"
import { counted, cut } from "../format/Format.ts"
import { runFacts } from "../run/RunFacts.ts"

/** Something that changed in the time of a chart, and may be why a figure did. */
export interface Change {
  /** Milliseconds. */
  readonly at: number
  readonly kind: "policy" | "alert" | "release"
  readonly text: string
  readonly href: string
}

interface Sources {
  readonly policies: ReadonlyArray<{ readonly policyId: string; readonly registeredAtUnixMs?: number | undefined }>
  readonly alerts: ReadonlyArray<{
    readonly id: string
    readonly ruleName: string
    readonly startsAt: string
  }>
  /** Runs of the time, the newest first or the oldest first. */
  readonly runs: ReadonlyArray<Run>
}

/** Characters of a name in a line. */
const NAME = 60

/** Registered policies, alerts that fired, and first runs of another version of a scenario, the newest first. */
export const changesIn = ({ alerts, policies, runs }: Sources, { from, to }: TimeSpan): ReadonlyArray<Change> =>
  [
    ...registered(policies),
    ...alerts.map(
      ({ id, ruleName, startsAt }): Change => ({
        at: Date.parse(startsAt),
        kind: "alert",
        text: `Alert ${cut(ruleName, NAME)} fired`,
        href: `/alerts?id=${id}`
      })
    ),
    ...releasesIn(runs)
  ]
    .filter(({ at }) => at >= from && at <= to)
    .toSorted((one, other) => other.at - one.at)

const MINUTE_MS = 60_000

/** The registered policies; those of one minute are one line. */
const registered = (policies: Sources["policies"]): ReadonlyArray<Change> =>
  [
    ...Map.groupBy(
      policies.filter(({ registeredAtUnixMs }) => registeredAtUnixMs !== undefined),
      ({ registeredAtUnixMs = 0 }) => Math.floor(registeredAtUnixMs / MINUTE_MS)
    ).values()
  ].map((together): Change => {
    const [{ policyId = "", registeredAtUnixMs = 0 } = {}] = together
    const at = registeredAtUnixMs
    return together.length === 1
      ? {
          ...{ at, kind: "policy", text: `Policy ${cut(policyId, NAME)} registered` },
          href: `/policies?${new URLSearchParams({ id: policyId }).toString()}`
        }
      : { at, kind: "policy", text: `${counted(together.length, "policy", "policies")} registered`, href: "/policies" }
  })

const VERSION = /^(.+)@([^@/]+)$/

/** The first run of each version of a scenario that follows another version of it. */
const releasesIn = (runs: ReadonlyArray<Run>): ReadonlyArray<Change> => {
  const lastOf = new Map<string, string>()
  const known = new Set<string>()
  return runs
    .toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1))
    .flatMap((run): ReadonlyArray<Change> => {
      const reference = runFacts(run).scenario ?? ""
      const [, name, version] = VERSION.exec(reference) ?? []
      if (name === undefined || version === undefined) return []
      const before = lastOf.get(name)
      const isNew = before !== undefined && before !== version && !known.has(reference)
      lastOf.set(name, version)
      known.add(reference)
      if (!isNew) return []
      const text = `First run of ${cut(name, NAME)} ${version}, after ${before}`
      return [{ at: Date.parse(run.createdAt), kind: "release", text, href: `/runs/${run.id}` }]
    })
}
