import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Expectations, GateCase } from "./CaseFile.ts"
import type { Trial } from "./Trial.ts"

/** Bytes of inputs, as JSON, that a run keeps. */
export const MAX_INPUT_BYTES = 16_384

/** `metadata.launch` of a run: template, inputs and outputs of its launch (docs/internals/launch.md#submission). */
export const RecordedLaunch = Schema.Struct({
  templateId: Schema.optionalKey(Schema.String),
  /** Absent when they are larger than `MAX_INPUT_BYTES`. */
  inputs: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  /** The outputs that its scenario declares; absent without any. */
  expectedDecisionKinds: Schema.optionalKey(Schema.Array(Schema.String))
})
export type RecordedLaunch = typeof RecordedLaunch.Type

/** An empty template counts as none, as for the launch itself. */
export const recordedLaunch = (
  inputs: Schema.JsonObject,
  templateId: string | undefined,
  expectedDecisionKinds: ReadonlyArray<string> = []
): RecordedLaunch => ({
  ...(templateId && { templateId }),
  ...(expectedDecisionKinds.length > 0 && { expectedDecisionKinds }),
  ...(new TextEncoder().encode(JSON.stringify(inputs)).length <= MAX_INPUT_BYTES && { inputs })
})

/** A run of which a case is made. */
export interface RecordedRun {
  readonly metadata: Schema.JsonObject
  /** Replace single inputs of the launch, or stand in for those that the run does not have. */
  readonly inputs: Schema.JsonObject
  /** Its outcome becomes the expectation. */
  readonly trial?: Trial
}

const decodeLaunch = Schema.decodeUnknownResult(RecordedLaunch)
const decodeGate = Schema.decodeUnknownResult(Schema.Struct({ model: Schema.optionalKey(Schema.String) }))

/** The case of a run without its name, or why none can be made. */
export const caseOfRun = ({ inputs, metadata, trial }: RecordedRun): Result.Result<Omit<GateCase, "name">, string> => {
  const scenarioRef = metadata["scenarioRef"]
  if (typeof scenarioRef !== "string" || scenarioRef === "") {
    return Result.fail("it has no scenario, because the launch service did not launch it")
  }
  const launch = Result.getOrElse(decodeLaunch(metadata["launch"]), (): RecordedLaunch => ({}))
  if (launch.inputs === undefined && Object.keys(inputs).length === 0) {
    return Result.fail("its inputs are not recorded; give them with --input name=value")
  }
  if (trial?.excluded !== undefined) return Result.fail(`it has no outcome to expect (${trial.excluded})`)
  const { model } = Result.getOrElse(decodeGate(metadata["gate"]), (): { readonly model?: string } => ({}))
  return Result.succeed({
    scenarioRef,
    ...(launch.templateId !== undefined && { template: launch.templateId }),
    inputs: { ...launch.inputs, ...inputs },
    ...(model !== undefined && { vary: { model: [model] } }),
    ...(trial !== undefined && { expect: expectationOf(trial) })
  })
}

const expectationOf = ({ outcome: { action, positive } }: Trial): Expectations => ({ action, positive })

/** The name of a case that no other case of its file has: with the next number when the plain one is used. */
export const uniqueName = (name: string, used: ReadonlyArray<string>): string => {
  let unique = name
  for (let number = 2; used.includes(unique); number++) unique = `${name} ${number}`
  return unique
}
