import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** Fields of a scenario's context with the value that counts when the scenario does not say one. */
export const text = (value: string) => Schema.String.pipe(Schema.withDecodingDefault(Effect.succeed(value)))
export const number = (value: number) => Schema.Finite.pipe(Schema.withDecodingDefault(Effect.succeed(value)))
export const flag = (value: boolean) => Schema.Boolean.pipe(Schema.withDecodingDefault(Effect.succeed(value)))

/** Reads a context; one that is absent or of another scenario gives the defaults. */
export const contextReader = <S extends Schema.Codec<unknown, unknown>>(
  schema: S
): ((context: unknown) => S["Type"]) => {
  const decode = Schema.decodeUnknownOption(schema)
  const defaults = Schema.decodeUnknownSync(schema)({})
  return (context) => Option.getOrElse(decode(context ?? {}), () => defaults)
}
