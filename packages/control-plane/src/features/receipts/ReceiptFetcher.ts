import { describeSqlError } from "@runplane/database"
import {
  artifactCreated,
  backoffMs,
  decodeEventText,
  type LoggedDecision,
  loggedDecision,
  NO_RECEIPT_KEYS,
  RECEIPT_ARTIFACT,
  type ReceiptKeys,
  type ReceiptReport,
  type RunId,
  readReceipt,
  receiptKeyIds,
  receiptReport,
  receiptText,
  spreadBy,
  standardMode
} from "@runplane/domain"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { EventLog } from "../../event-log/EventLog.ts"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { ArtifactRepository } from "../../event-log/runs/ArtifactRepository.ts"
import { contentDigest } from "../../event-log/seal/HashChain.ts"
import { Redactor } from "../../platform/deployment/Redactor.ts"
import { isoNow } from "../../platform/IsoNow.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import type { ReceiptResult } from "../../platform/metrics/ResultLabels.ts"
import type { AppendFailed } from "../../platform/postgres/AppendFailed.ts"
import { type ClaimedReceipt, PendingReceipts } from "./PendingReceipts.ts"
import { makeReceiptKeyCache } from "./ReceiptKeyCache.ts"
import { receiptArtifactId, receiptContent, receiptCrypto, redactedReport } from "./ReceiptRecord.ts"

/** Time for one attempt: the receipt and its keys. Milliseconds. */
export const ATTEMPT_TIMEOUT_MS = 60_000
/** The pauses after failed attempts. */
const RETRIES = { firstMs: 1_000, longestMs: 600_000 }
/** How long a log without a decision can still receive it: late frames are stored for 30 s. Milliseconds. */
const LATE_DECISION_MS = 45_000
/** Decisions of a run that are read; the last one counts. */
const DECISIONS = 100
/** Failures that no later attempt changes. */
const FINAL: ReadonlySet<RuntimeError["reason"]> = new Set([
  "NOT_FOUND",
  "FAILED_PRECONDITION",
  "UNIMPLEMENTED",
  "PERMISSION_DENIED",
  "INVALID_ARGUMENT",
  "OUT_OF_RANGE",
  "DATA_LOSS"
])

/** What an attempt found. */
type Found =
  | {
      readonly _tag: "Receipt"
      readonly text: string
      readonly keys: ReceiptKeys
      readonly logged: LoggedDecision | undefined
    }
  /** The runtime has no receipt, and a later attempt would not change that. */
  | { readonly _tag: "Missing"; readonly reason: string }
  /** The session is of a mode without receipts. */
  | { readonly _tag: "NotIssued" }
  | { readonly _tag: "Later"; readonly reason: string }

/** One attempt for a claimed receipt: reads it from the runtime, checks it, and records the result in the log. */
export const makeReceiptFetcher = Effect.gen(function* () {
  const runtime = yield* RuntimeClient
  const events = yield* EventRepository
  const artifacts = yield* ArtifactRepository
  const log = yield* EventLog
  const pending = yield* PendingReceipts
  const redactor = yield* Redactor
  const { receiptChecked } = yield* Metrics
  const keysFor = yield* makeReceiptKeyCache

  const readDecision = (runId: RunId): Effect.Effect<LoggedDecision | undefined, SqlError> =>
    Effect.map(events.page(runId, { afterSeq: 0, types: ["decision.finalized"] }, DECISIONS), ({ events }) => {
      const last = events.at(-1)
      const event = last && Result.getOrUndefined(decodeEventText(last.json))
      return event?.type === "decision.finalized" ? loggedDecision(event) : undefined
    })

  const find = Effect.fnUntraced(function* ({ ageMs, modeName, runId, sessionId }: ClaimedReceipt) {
    const isOver = ageMs >= pending.windowMs
    const failed = ({ message, reason }: RuntimeError): Found =>
      FINAL.has(reason) || isOver
        ? { _tag: "Missing", reason: `${reason}: ${message}` }
        : { _tag: "Later", reason: `${reason}: ${message}` }
    const answer = yield* Effect.result(runtime.getDecisionReceipt(sessionId))
    if (Result.isFailure(answer)) {
      const isOtherMode = standardMode(modeName) === undefined
      return answer.failure.reason === "FAILED_PRECONDITION" && isOtherMode
        ? ({ _tag: "NotIssued" } as const)
        : failed(answer.failure)
    }
    const text = answer.success
    const ids = Result.match(readReceipt(text), { onFailure: () => [], onSuccess: receiptKeyIds })
    const keys = yield* Effect.result(keysFor(ids))
    if (Result.isFailure(keys) && !FINAL.has(keys.failure.reason) && !isOver) return failed(keys.failure)
    const logged = yield* readDecision(runId)
    if (logged === undefined && ageMs < Math.min(LATE_DECISION_MS, pending.windowMs)) {
      return { _tag: "Later", reason: "the log has no decision yet" } as const
    }
    return { _tag: "Receipt", text, keys: Result.getOrElse(keys, () => NO_RECEIPT_KEYS), logged } as const
  })

  const unanswered = ({ ageMs }: ClaimedReceipt): Found => ({
    _tag: ageMs >= pending.windowMs ? "Missing" : "Later",
    reason: "the runtime did not answer in time"
  })

  const record = Effect.fnUntraced(function* (
    { runId }: ClaimedReceipt,
    inline: Parameters<typeof artifacts.insert>[0]["inline"],
    report: ReceiptReport,
    label: string
  ) {
    const id = receiptArtifactId(runId)
    const ts = yield* isoNow
    const shown = redactedReport(redactor, report)
    const event = artifactCreated(
      ts,
      {
        artifactId: id,
        kind: RECEIPT_ARTIFACT,
        label,
        contentSha256: contentDigest(JSON.stringify(inline)),
        receipt: shown
      },
      "run-executor"
    )
    const also = (at: string) =>
      Effect.andThen(
        artifacts.insert({ id, runId, kind: RECEIPT_ARTIFACT, label, ...(inline && { inline }), createdAt: at }),
        pending.forget(runId)
      )
    yield* log.record({ runId, events: [event], also }).pipe(
      // Another process has recorded it, or the COMMIT of an earlier attempt was not answered.
      Effect.catchTag("AppendFailed", (error) =>
        Effect.flatMap(pending.settle(runId, id), (isStored) => (isStored ? Effect.void : Effect.fail(error)))
      ),
      // The row of the receipt was deleted with the run.
      Effect.catchTag("RunNotFound", () => Effect.void)
    )
    return shown
  })

  const announce = (result: ReceiptResult, report: ReceiptReport) =>
    Effect.gen(function* () {
      receiptChecked(result)
      const text = `receipt of the decision: ${receiptText(report)}`
      if (result === "verified") return yield* Effect.logDebug(text)
      return yield* result === "refuted" ? Effect.logError(text) : Effect.logWarning(text)
    })

  const postpone = Effect.fnUntraced(function* (claimed: ClaimedReceipt, reason: string) {
    const delayMs = spreadBy(0.2, backoffMs(RETRIES, claimed.attempts - 1), yield* Random.next)
    yield* Effect.logDebug(`the receipt is requested again in ${Math.round(delayMs / 1_000)} s: ${reason}`)
    yield* pending.postpone(claimed, delayMs)
  })

  const settle = (claimed: ClaimedReceipt, found: Found): Effect.Effect<void, SqlError | AppendFailed> => {
    switch (found._tag) {
      case "Later":
        return postpone(claimed, found.reason)
      case "NotIssued":
        return pending.forget(claimed.runId)
      case "Missing": {
        const reason = `the runtime has no receipt: ${found.reason}`
        return Effect.flatMap(
          record(
            claimed,
            redactor.payload({ missing: found.reason }),
            { verified: false, signed: false, reason },
            MISSING
          ),
          (report) => announce("missing", report)
        )
      }
      case "Receipt": {
        const { keys, logged, text } = found
        const report = receiptReport(receiptCrypto, text, keys, logged)
        const inline = receiptContent(redactor, text, keys)
        return Effect.flatMap(record(claimed, inline, report, LABEL), (shown) => announce(resultOf(report), shown))
      }
    }
  }

  return Effect.fn("ReceiptFetcher.fetch")((claimed: ClaimedReceipt) =>
    find(claimed).pipe(
      Effect.timeoutOption(ATTEMPT_TIMEOUT_MS),
      Effect.map(Option.getOrElse(() => unanswered(claimed))),
      Effect.flatMap((found) => settle(claimed, found)),
      // A process that stops leaves the receipt to the next one.
      Effect.onInterrupt(() => Effect.ignore(pending.postpone(claimed, 0))),
      Effect.catchTags({
        SqlError: (error) =>
          Effect.logWarning(`a receipt is not recorded, it is tried again: ${describeSqlError(error)}`),
        AppendFailed: (error) => Effect.logWarning(`a receipt is not recorded, it is tried again: ${error.message}`)
      }),
      Effect.catchDefect((defect) => Effect.logError("the check of a receipt failed unexpectedly", defect)),
      Effect.annotateLogs({ runId: claimed.runId, sessionId: claimed.sessionId })
    )
  )
})

const LABEL = "Receipt of the decision"
const MISSING = "No receipt of the decision"

const resultOf = ({ disagreements, verified }: ReceiptReport): ReceiptResult => {
  if (verified) return "verified"
  return disagreements === undefined ? "unverified" : "refuted"
}
