import { EXIT_CODES, failed, oneLine } from "@runplane/cli"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

/** The failure of a command in one line. */
export const inOneLine = <A, E extends { readonly message: string | ReadonlyArray<string> }, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.mapError(effect, (error) => failed(oneLine(error)))

/** A signal leaves the work of the command undone: its exit code says so, and a line what that means. */
export const unlessInterrupted = <A, E, R>(effect: Effect.Effect<A, E, R>, then: string) =>
  Effect.onInterrupt(effect, () =>
    Effect.andThen(
      Console.error(`runplane: interrupted before the end; ${then}`),
      Effect.sync(() => {
        process.exitCode = EXIT_CODES.failed
      })
    )
  )
