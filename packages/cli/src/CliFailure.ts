import * as Data from "effect/Data"
import { oneLine } from "./story/OneLine.ts"
import { plainText } from "./story/PlainText.ts"

/** What a command ends with (docs/cli.md#exit-codes). */
export const EXIT_CODES = { ok: 0, failed: 1, usage: 2, notFound: 3, refused: 4, unreachable: 5 } as const
export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]

/** Why a command failed, in one line that names the next step, and the code it ends with. */
export class CliFailure extends Data.TaggedError("CliFailure")<{ readonly reason: string; readonly code: ExitCode }> {
  override get message() {
    return this.reason
  }
}

/** The command line is not understood, or lacks something. */
export const usageProblem = (reason: string) => new CliFailure({ reason, code: EXIT_CODES.usage })

/** It failed, and the reason stands elsewhere already. */
export const failedAndSaid = new CliFailure({ reason: "", code: EXIT_CODES.failed })

/** It was tried, and it did not work. */
export const failed = (reason: string) => new CliFailure({ reason, code: EXIT_CODES.failed })

/** What the services' errors and those on the way to them have in common. */
interface Known {
  readonly _tag?: string
  readonly message: string | ReadonlyArray<string>
  readonly statusCode?: number
  readonly errorCode?: string
}

const isKnown = (error: unknown): error is Known =>
  typeof error === "object" &&
  error !== null &&
  "message" in error &&
  (typeof error.message === "string" || Array.isArray(error.message))

/** The failure that a service's error, or the way to the service, comes to. `url` is where the service was sought. */
export const failureOf =
  (url: string) =>
  (error: unknown): CliFailure => {
    if (error instanceof CliFailure) return error
    if (!isKnown(error)) return failed(plainText(String(error)))
    if (error._tag === "HttpClientError") return onTheWay(error, url)
    const text = plainText(oneLine(error))
    switch (error.statusCode) {
      case 401:
        return refused(`${url} refused the API key (${text}); set RUNPLANE_API_KEY, or name a profile that has one`)
      case 403:
        return refused(`${text}; a key with another role may do it`)
      case 404:
        return new CliFailure({ reason: `${text}${whereToLook(error.errorCode)}`, code: EXIT_CODES.notFound })
      case 429:
        return refused(`${text}; wait a minute, or raise THROTTLE_LIMIT of the service`)
      case undefined:
        return failed(text)
      default:
        return error.statusCode < 500 ? refused(text) : failed(`${text} (${error.statusCode} of ${url})`)
    }
  }

const refused = (reason: string) => new CliFailure({ reason, code: EXIT_CODES.refused })

const whereToLook = (errorCode: string | undefined): string =>
  errorCode === "RUN_NOT_FOUND" ? "; `runplane runs list` shows what there is" : ""

const onTheWay = (error: Known, url: string): CliFailure => {
  const reason = "reason" in error && typeof error.reason === "object" && error.reason !== null ? error.reason : {}
  const tag = "_tag" in reason ? reason._tag : undefined
  if (tag === "TransportError") {
    return new CliFailure({
      reason: `${url} cannot be reached; start Runplane with \`runplane dev\`, or say with --url or RUNPLANE_URL where it is`,
      code: EXIT_CODES.unreachable
    })
  }
  return failed(`${url} does not answer as Runplane does: ${plainText(oneLine(error))}`)
}

/** The exit code of whatever a command failed with. */
export const exitCodeOf = (error: unknown): ExitCode => (error instanceof CliFailure ? error.code : EXIT_CODES.failed)
