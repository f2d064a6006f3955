import {
  type AlertRule,
  type CounterRow,
  isRollingWindow,
  type KnownFiring,
  type NewFiring,
  type RunMemory
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import { type NeededCounter, remembered, type StepStore } from "./AlertStep.ts"
import { isStored } from "./FiringWriter.ts"

/** Minutes of a rolling window are kept so long after they left it, as in the database. Milliseconds. */
const KEPT_MS = 3_600_000

/** A firing of a trial. */
export interface TriedFiring {
  readonly firing: NewFiring
  /** When its value ended it, Unix milliseconds. */
  readonly endedAt: number | undefined
}

/** The rows of one key of a rule, by period. */
interface KeyRows {
  readonly counters: Map<string, Map<string, CounterRow>>
  readonly firings: Map<string, Array<KnownFiring>>
}

/** The store of a trial: what the database would have of the rule, in memory. It has no clock: nothing is due. */
export const makeMemoryStore = () => {
  const memories = new Map<string, RunMemory>()
  const keys = new Map<string, KeyRows>()
  const tried: Array<{ readonly firing: NewFiring; endedAt: number | undefined }> = []

  const rowsOf = (ruleId: string, key: string): KeyRows => {
    const name = JSON.stringify([ruleId, key])
    const found = keys.get(name) ?? { counters: new Map(), firings: new Map() }
    keys.set(name, found)
    return found
  }

  /** The rows of a counter; of a rolling window all minutes since the first window of the step. */
  const neededOf = ({ key, period, rule }: NeededCounter, firstEnd: number) => {
    const { counters, firings } = rowsOf(rule.id, key)
    if (!isRollingWindow(rule.window)) {
      return { counters: [...(counters.get(period.key)?.values() ?? [])], firings: firings.get(period.key) ?? [] }
    }
    for (const [minute, parts] of counters) {
      if ([...parts.values()].every(({ endsAt }) => endsAt < firstEnd - KEPT_MS)) counters.delete(minute)
    }
    return {
      counters: [...counters.values()].flatMap((parts) => [...parts.values()]),
      firings: [...firings.values()].flat()
    }
  }

  const nameOf = (rule: AlertRule, key: string, period: string) =>
    JSON.stringify([rule.id, key, isRollingWindow(rule.window) ? "" : period])

  const store: StepStore = {
    memories: remembered(memories),
    load: (needed) =>
      Effect.sync(() => {
        const distinct = new Map<string, { readonly one: NeededCounter; firstEnd: number }>()
        for (const one of needed) {
          const name = nameOf(one.rule, one.key, one.period.key)
          const { end } = one.firesIn ?? one.period
          const found = distinct.get(name)
          if (found === undefined) distinct.set(name, { one, firstEnd: end })
          else found.firstEnd = Math.min(found.firstEnd, end)
        }
        const found = Array.from(distinct.values(), ({ firstEnd, one }) => neededOf(one, firstEnd))
        return { counters: found.flatMap(({ counters }) => counters), firings: found.flatMap(({ firings }) => firings) }
      }),
    save: ({ counters, firings, resolutions }) =>
      Effect.sync(() => {
        for (const row of counters) {
          const rows = rowsOf(row.ruleId, row.key).counters
          const parts = rows.get(row.period) ?? new Map<string, CounterRow>()
          rows.set(row.period, parts.set(row.part, row))
        }
        const ids = new Map<NewFiring, string>()
        for (const firing of firings) {
          const { key, level, period, rule } = firing
          const id = String(tried.push({ firing, endedAt: undefined }) - 1)
          ids.set(firing, id)
          const rows = rowsOf(rule.id, key).firings
          const known: KnownFiring = { id, ruleId: rule.id, key, period: period.key, level, isOpen: true }
          rows.set(period.key, [...(rows.get(period.key) ?? []), known])
        }
        for (const { at, firing } of resolutions) {
          const id = isStored(firing) ? firing.id : ids.get(firing)
          const one = tried[Number(id)]
          if (one === undefined) continue
          one.endedAt = at
          const { key, period, rule } = one.firing
          const rows = rowsOf(rule.id, key).firings
          const known = rows.get(period.key) ?? []
          rows.set(
            period.key,
            known.map((each) => (each.id === id ? { ...each, isOpen: false } : each))
          )
        }
      })
  }

  return {
    store,
    /** In the order in which they fired. */
    firings: (): ReadonlyArray<TriedFiring> => tried
  }
}
