import * as Schema from "effect/Schema"
import { MarkName } from "../marks/Mark.ts"
import { MAX_TAG_LENGTH } from "../run/RunDescriptor.ts"
import { isOneLine } from "../values/Field.ts"

const optional = Schema.optionalKey
const text = Schema.String.check(Schema.isNonEmpty(), Schema.isMaxLength(1_024))
const share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Seed = Schema.Union([text, Schema.Int])
const Inputs = Schema.Record(Schema.String, Schema.Json)
const listOf = <S extends Schema.Top>(item: S) =>
  Schema.Array(item).check(Schema.isNonEmpty(), Schema.isMaxLength(1_000))
const P95 = Schema.Struct({ p95: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)) })

/** The least share of the runs with the same outcome, unless the case states another. */
export const DEFAULT_AGREEMENT = 0.8
/** The smallest drop against a baseline that fails a case, unless the case states another. */
export const DEFAULT_MIN_DROP = 0.1

/** What a case demands of the outcomes of its runs (docs/reference/gate.md#expectations). */
export const Expectations = Schema.Struct({
  action: optional(text),
  positive: optional(Schema.NullOr(Schema.Boolean)),
  agreement: optional(share.check(Schema.isGreaterThan(0), Schema.isLessThan(1))),
  mustNot: optional(listOf(text)),
  maxCostUsd: optional(P95),
  maxDurationMs: optional(P95),
  noNewFlips: optional(Schema.Boolean),
  /** The least mean of the marks of a name. */
  marks: optional(Schema.Record(MarkName, Schema.Struct({ min: Schema.Finite }))),
  minDrop: optional(share)
})
export type Expectations = typeof Expectations.Type

/** A case of a gate file (docs/reference/gate.md#files). */
export const GateCase = Schema.Struct({
  /** With `case:` in front it is a tag. */
  name: text.check(Schema.isMaxLength(MAX_TAG_LENGTH - "case:".length), isOneLine),
  scenarioRef: text,
  template: optional(text),
  inputs: optional(Inputs),
  vary: optional(
    Schema.Struct({
      /** A list, or the number of seeds from 1 on. */
      seed: optional(Schema.Union([listOf(Seed), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000 }))])),
      model: optional(listOf(text)),
      inputs: optional(listOf(Inputs))
    })
  ),
  expect: optional(Expectations)
})
export type GateCase = typeof GateCase.Type

export const GateFile = Schema.Struct({ cases: listOf(GateCase) })
export type GateFile = typeof GateFile.Type

/** Cases of one name in a file, which would be one case in a baseline. */
export const repeatedNames = ({ cases }: GateFile): ReadonlyArray<string> => {
  const names = cases.map(({ name }) => name)
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))]
}

/** The parameters of one run of a case. */
export interface CaseRun {
  readonly inputs: Schema.JsonObject
  readonly seed?: string | number
  readonly model?: string
  /** The combination of model and inputs in words, `model=a inputs=2`; absent when the case varies neither. */
  readonly variant?: string
}

/** The parameters of the n-th run, from 0: all models and inputs for the first seed, then for the next. */
export const caseRun = ({ inputs = {}, vary = {} }: GateCase, nth: number): CaseRun => {
  const models = vary.model ?? [undefined]
  const changes = vary.inputs ?? [undefined]
  const model = models[nth % models.length]
  const change = Math.floor(nth / models.length) % changes.length
  const round = Math.floor(nth / models.length / changes.length)
  const seed = typeof vary.seed === "number" ? (round % vary.seed) + 1 : vary.seed?.[round % vary.seed.length]
  const variant = [
    ...(model === undefined ? [] : [`model=${model}`]),
    ...(vary.inputs === undefined ? [] : [`inputs=${change + 1}`])
  ].join(" ")
  return {
    inputs: { ...inputs, ...changes[change] },
    ...(seed !== undefined && { seed }),
    ...(model !== undefined && { model }),
    ...(variant !== "" && { variant })
  }
}
