import * as Schema from "effect/Schema"

/** Fields that several tools take. */

const MAX_QUERY = 2_000

export const bounded = (min: number, max: number) => Schema.Int.check(Schema.isBetween({ minimum: min, maximum: max }))

/** A path drops `.` and `..`, so neither is an id. */
const isSegment = Schema.isPattern(/^(?!\.{1,2}$)/)

export const runId = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200), isSegment).annotate({
  description: "Id of the run, or of its session"
})

export const q = Schema.optionalKey(
  Schema.String.check(Schema.isMaxLength(MAX_QUERY)).annotate({
    description: "Search, such as `status:failed cost:>0.5 createdAt:>=2026-07-01 -tags:nightly refund`"
  })
)

export const limit = (max: number, fallback: number) =>
  Schema.optionalKey(bounded(1, max).annotate({ description: `Most rows; ${fallback} unless given` }))

export const text = (description: string, max = 512) =>
  Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(max)).annotate({ description })

export const seq = (description: string) =>
  Schema.optionalKey(bounded(0, Number.MAX_SAFE_INTEGER).annotate({ description }))
