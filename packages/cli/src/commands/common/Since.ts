import * as Clock from "effect/Clock"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { usageProblem } from "../../CliFailure.ts"

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

export const sinceFlag = Flag.String("since").pipe(
  Flag.withDescription("Calls since this time: 30d, 12h, or a date"),
  Flag.withDefault("30d")
)

/** The ISO time of `30d`, `12h`, `90m` ago, or of a date. */
export const timeOf = Effect.fnUntraced(function* (text: string) {
  const [, count = "", unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  const ms = UNIT_MS[unit]
  const at = ms === undefined ? Date.parse(text) : (yield* Clock.currentTimeMillis) - Number(count) * ms
  if (Number.isNaN(at)) return yield* usageProblem(`--since ${text} is not a time: 30d, 12h, or 2026-07-01`)
  return new Date(at).toISOString()
})
