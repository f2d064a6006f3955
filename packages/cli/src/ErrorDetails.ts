import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** Details that are shown at most. */
const MOST = 10

/** An error of a JSON Schema, as `metadata.errors` lists it. */
const InputError = Schema.Struct({
  instancePath: Schema.String,
  message: Schema.String,
  params: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})

const Metadata = Schema.Struct({
  metadata: Schema.Struct({
    errors: Schema.optionalKey(Schema.Array(InputError)),
    failedParticipants: Schema.optionalKey(
      Schema.Array(Schema.Struct({ participantId: Schema.String, reason: Schema.String }))
    )
  })
})
const decodeMetadata = Schema.decodeUnknownOption(Metadata)

/** What a key of `params` adds to the message of its keyword. */
const ADDED = ["additionalProperty", "unevaluatedProperty", "allowedValues", "allowedValue"]

/** `standby.warm must be boolean`; the pointer `""` names all inputs. */
const inputErrorText = ({ instancePath, message, params = {} }: typeof InputError.Type): string => {
  const steps = instancePath.split("/").slice(1)
  const name = steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")).join(".")
  const added = ADDED.flatMap((key) => (key in params ? [params[key]].flat() : []))
  const values = added.map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
  return `${name || "the inputs"} ${message}${values.length === 0 ? "" : `: ${values.join(", ")}`}`
}

/**
 * What the metadata of a service's error adds to its message, as ` (one; another)`: each input that breaks its schema,
 * and each agent that did not start (docs/internals/launch.md#errors). Empty when the metadata is of another form.
 */
export const errorDetails = (error: unknown): string =>
  Option.match(decodeMetadata(error), {
    onNone: () => "",
    onSome: ({ metadata: { errors = [], failedParticipants = [] } }) => {
      const all = [
        ...errors.map(inputErrorText),
        ...failedParticipants.map(({ participantId, reason }) => `${participantId}: ${reason}`)
      ]
      const shown = all.length > MOST ? [...all.slice(0, MOST), `and ${all.length - MOST} more`] : all
      return shown.length === 0 ? "" : ` (${shown.join("; ")})`
    }
  })
