import { rootCauseOf } from "@runplane/api"
import * as Data from "effect/Data"
import { errorDetails } from "./ErrorDetails.ts"
import { oneLine, plainText } from "./narrative/PlainText.ts"
import { type Service, whyUnreachable } from "./Unreachable.ts"

/** The exit codes of a command (docs/reference/cli.md#exit-codes). */
export const EXIT_CODES = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  unreachable: 5,
  inconclusive: 6,
  budget: 7,
  unmeasured: 8
} as const
export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]

/** Why a command failed, in one line that names the next step, and the code it ends with. */
export class CliFailure extends Data.TaggedError("CliFailure")<{ readonly reason: string; readonly code: ExitCode }> {
  override get message() {
    return this.reason
  }
}

/** The command line is not understood, or lacks something. */
export const usageProblem = (reason: string) => new CliFailure({ reason, code: EXIT_CODES.usage })

/** It failed, and the reason is already printed. */
export const failedAndPrinted = new CliFailure({ reason: "", code: EXIT_CODES.failed })

/** The command was tried, and failed. */
export const failed = (reason: string) => new CliFailure({ reason, code: EXIT_CODES.failed })

/** The fields of an error of a service, or of the connection to it. */
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

/** The failure of the command for an error of a service, or of the connection to it. */
export const failureOf =
  (service: Service) =>
  (error: unknown): CliFailure => {
    const url = service.baseUrl
    if (error instanceof CliFailure) return error
    if (!isKnown(error)) return failed(plainText(rootCauseOf(error).message) || "unknown failure")
    if (error._tag === "HttpClientError") return onTheWay(error, service)
    const text = plainText(`${oneLine(error)}${errorDetails(error)}`)
    switch (error.statusCode) {
      case 401:
        return keyRefused(url, text)
      case 403:
        // Most refusals of a person have nothing to do with the role of its key.
        return refused(isOfRole(error) ? `${text}; a key with another role may do it` : text)
      case 404:
        return new CliFailure({ reason: `${text}${nextStep(error.errorCode)}`, code: EXIT_CODES.notFound })
      case 429:
        return refused(
          isOfPerson(error)
            ? `${text}; wait a minute`
            : `${text}; wait a minute, or raise THROTTLE_LIMIT of the service`
        )
      case undefined:
        return failed(text)
      default:
        return error.statusCode < 500 ? refused(text) : failed(`${text} (${error.statusCode} of ${url})`)
    }
  }

/** Whether a key of another role would be let in: other refusals of people have codes, or say who they are. */
const isOfRole = ({ errorCode, message }: Known): boolean =>
  (errorCode === undefined || errorCode === "FORBIDDEN") &&
  !/^you (?:may not|have no)\b(?!.*\brole\b)/.test(String(message))

/** Whether a limit of people is reached: no setting raises it. */
const isOfPerson = ({ errorCode = "" }: Known): boolean =>
  /^TOO_MANY_(?:ANSWERS|QUESTIONS|STREAMS|CODES)$/.test(errorCode)

const refused = (reason: string) => new CliFailure({ reason, code: EXIT_CODES.refused })

const keyRefused = (url: string, text: string) =>
  refused(`${url} refused the API key (${text}); set RUNPLANE_API_KEY, or name a profile that has one`)

const nextStep = (errorCode: string | undefined): string =>
  errorCode === "RUN_NOT_FOUND" ? "; `runplane runs list` shows the runs" : ""

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** Why the answer is not one of Runplane; undefined without an answer. */
const foreignAnswer = (reason: object, { baseUrl, setBy }: Service): string | undefined => {
  if (!("response" in reason) || !isObject(reason.response) || !("status" in reason.response)) return undefined
  const { status } = reason.response
  const headers = "headers" in reason.response && isObject(reason.response.headers) ? reason.response.headers : {}
  if ("location" in headers) return `it redirects to ${headers.location}; set that address with ${setBy}`
  const https = status === 400 && baseUrl.startsWith("http:") ? ", an https:// one if the port serves HTTPS" : ""
  return `it answered ${status}; set the address with ${setBy}${https}`
}

const isUnauthorized = (reason: object): boolean =>
  "response" in reason && isObject(reason.response) && "status" in reason.response && reason.response.status === 401

const onTheWay = (error: Known, service: Service): CliFailure => {
  const reason = "reason" in error && isObject(error.reason) ? error.reason : {}
  if ("_tag" in reason && reason._tag === "TransportError") {
    const why = whyUnreachable(error, service)
    return new CliFailure({
      reason: `${service.baseUrl} cannot be reached: ${why}`,
      code: EXIT_CODES.unreachable
    })
  }
  // An endpoint that needs no key: a proxy in front of it wants one.
  if (isUnauthorized(reason)) return keyRefused(service.baseUrl, "401")
  const why = foreignAnswer(reason, service) ?? oneLine(error)
  return failed(`${service.baseUrl} does not answer as Runplane does: ${plainText(why)}`)
}

/** The exit code for the failure of a command. */
export const exitCodeOf = (error: unknown): ExitCode => (error instanceof CliFailure ? error.code : EXIT_CODES.failed)
