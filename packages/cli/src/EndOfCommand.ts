import { rootCauseOf } from "@runplane/api"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { EXIT_CODES, exitCodeOf } from "./CliFailure.ts"
import { oneLine } from "./narrative/PlainText.ts"

const hasMessage = (error: unknown): error is { readonly message: string } =>
  typeof error === "object" && error !== null && "message" in error && typeof error.message === "string"

/** The text of a failure on stderr: one line, or the whole trace of a fault of the program; undefined for none. */
const failureText = (cause: Cause.Cause<unknown>): string | undefined =>
  Option.match(Cause.findErrorOption(cause), {
    onSome: (error) => {
      const text = hasMessage(error) ? error.message && oneLine(error) : rootCauseOf(error).message || "unknown failure"
      return text === "" ? undefined : `runplane: ${text}`
    },
    onNone: () => `runplane: unexpected failure\n${Cause.pretty(cause)}`
  })

/**
 * How a command ends: its failure on stderr, and its exit code (docs/reference/cli.md#exit-codes). A signal is the
 * ordinary end of a command that never ends by itself; a command with a verdict sets `process.exitCode` instead.
 */
export const endOfCommand = {
  disableErrorReporting: true,
  teardown: <E, A>(exit: Exit.Exit<A, E>, onExit: (code: number) => void) => {
    if (Exit.isSuccess(exit)) return onExit(EXIT_CODES.ok)
    if (Cause.hasInterruptsOnly(exit.cause)) return onExit(Number(process.exitCode ?? EXIT_CODES.ok))
    const code = exitCodeOf(Option.getOrUndefined(Cause.findErrorOption(exit.cause)))
    const text = failureText(exit.cause)
    if (text === undefined) return onExit(code)
    process.stderr.write(`${text}\n`, () => onExit(code))
  }
}
