import { controlPlaneErrorStatus } from "../src/errors/ControlPlaneErrors.ts"
import { launcherErrorStatus } from "../src/errors/LauncherErrors.ts"
import type { ErrorAnswer } from "./ErrorAnswer.ts"

/** What holds for every operation of a service. */
const conventions = `Bodies and answers are JSON, unless an operation says otherwise. Times are ISO 8601 in UTC with milliseconds, durations
are milliseconds. Every answer carries \`X-Request-Id\`: the caller's own id, when it sent one.

A client may make 100 requests in 60 seconds, unless the deployment says otherwise; answers say what is left, and one over the
budget is 429 with \`Retry-After\`. A body may have 1 MB. An unknown path is 404, a known
path with another method 405 with \`Allow\`; the launch service answers both with 404.

Where keys are configured, each has a role: \`ingest\` sends telemetry, \`viewer\` reads, \`operator\` acts on runs, \`admin\` does
everything. Operations name the one they need as \`x-required-role\`; \`GET /me\` says who the caller is. Where none are configured, requests of other
sites' pages and unknown hosts are 403.

The examples were recorded from running services; long lists are cut.`

const row = (code: string, status: number, when: string) => `| \`${code}\` | ${when} | ${status} |`

const table = (rows: ReadonlyArray<string>) => ["| errorCode | when | status |", "|---|---|---|", ...rows].join("\n")

/** Why a code is answered with its usual status. */
const reasons = (code: string, status: number, answers: Readonly<Record<string, ErrorAnswer>>) =>
  new Set(
    Object.values(answers).flatMap((answer) => (answer.code === code && answer.status === status ? [answer.when] : []))
  )

/**
 * Codes that no operation answers with: those of the record of a failed run, or of an entry of a batch, and that of a
 * request for an unknown operation.
 */
const codesOfOtherAnswers: Readonly<Record<string, string>> = {
  METHOD_NOT_ALLOWED: "of no operation: the path has other methods, which the header Allow lists",
  STREAM_EXHAUSTED: "of no operation: reserved, no answer and no run has it",
  SESSION_EXPIRED: "of a failed run: the session ran out of time",
  SESSION_LOST: "of a failed run: the runtime does not know the session any more, so the work has to be launched again",
  MODE_NOT_SUPPORTED: "of a failed run: the runtime does not support the mode",
  UNKNOWN_POLICY_VERSION: "of a failed run: the runtime does not know the policy",
  POLICY_DENIED: "of a failed run: the policy does not allow what the session came to"
}

/** The opening text of the control plane's document. */
export const controlPlaneIntroduction = (answers: Readonly<Record<string, ErrorAnswer>>): string =>
  [
    "A run wraps one session of agents on an external runtime. The service observes the session and never writes into it.",
    conventions,
    "An error is `{statusCode, errorCode, message, metadata?, error?}`. `errorCode` is for programs, `message` for people; where " +
      "rules of a body or a query are broken, `message` is the list of them.",
    table(
      Object.entries(controlPlaneErrorStatus).map(([code, status]) =>
        row(
          code,
          status,
          [
            ...reasons(code, status, answers),
            ...(codesOfOtherAnswers[code] === undefined ? [] : [codesOfOtherAnswers[code]])
          ].join("; ")
        )
      )
    ),
    "`INTERNAL_ERROR` also goes with 429, for the budget of this service, and with 502, for a cancel callback that failed."
  ].join("\n\n")

/** The opening text of the launch service's document. */
export const launcherIntroduction = (answers: Readonly<Record<string, ErrorAnswer>>): string =>
  [
    "A scenario is a kind of session with its participants, policies and inputs. From a user's inputs the service makes the " +
      "descriptor that the run control plane takes, and it can start example agents for the participants.",
    conventions,
    "An error is `{statusCode, errorCode, message, metadata?}`. Refused keys, malformed or oversized bodies and unknown paths have " +
      "another form without a code: `{message, error, statusCode}`.",
    table(
      Object.entries(launcherErrorStatus).map(([code, status]) =>
        row(code, status, [...reasons(code, status, answers)].join("; "))
      )
    )
  ].join("\n\n")
