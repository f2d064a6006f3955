import { RunDescriptor, RunMetrics, RunState } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference, textParam } from "../../validation/Params.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { Run, RunAccepted, RunPage, RunValidation } from "./Run.ts"
import { AcceptedMessage, Artifact, OutboundMessage } from "./RunRecords.ts"
import { AbandonRun, Reason, runListQuery, runQuery } from "./RunRequests.ts"

const id = { id: RunReference }
const created = HttpApiSchema.status(201)

const descriptor = bodySchema(RunDescriptor, { unknownKeys: "reject" })
const reason = bodySchema(Reason, { unknownKeys: "drop" })

/** What a change of a run's status takes and answers. */
const lifecycle = { params: id, payload: reason, success: Run.pipe(created) }
const lifecycleFailures = [Failure.RunNotFound, Failure.InvalidStateTransition] as const

/** Runs: creation, reading and life-cycle. */
export class RunsGroup extends HttpApiGroup.make("runs")
  .add(
    HttpApiEndpoint.post("create", "/runs", {
      payload: descriptor,
      success: RunAccepted.pipe(HttpApiSchema.status(202)),
      error: [
        Failure.UnknownRuntimeKind,
        Failure.InvalidSessionId,
        Failure.SessionAlreadyExists,
        Failure.BudgetExhausted
      ]
    }).annotateMerge(
      operation({
        id: "createRun",
        access: "operator",
        summary: "Create a run and start watching its session",
        description:
          "Answers at once; the work goes on behind it. The caller hands `sessionId` to the agents, the initiator opens the " +
          "session on the runtime, and the service waits for that and then observes. A known `execution.idempotencyKey` " +
          "answers with the first run as it is now and starts nothing; no header takes it. A run fails with " +
          "`RUNTIME_TIMEOUT` when no agent opens its session, with `MODE_NOT_SUPPORTED` when the runtime lacks the mode, and " +
          "with `SESSION_LOST` when the runtime does not know the session any more: " +
          "its record says so, not this answer."
      })
    ),
    HttpApiEndpoint.post("validate", "/runs/validate", {
      payload: descriptor,
      success: RunValidation.pipe(created)
    }).annotateMerge(
      operation({
        id: "validateRun",
        access: "viewer",
        summary: "Check a descriptor without creating anything",
        description:
          "What breaks the rules of the body is 400, as it is for a creation. What only a runtime knows is in the answer; " +
          "a runtime that does not answer is a warning."
      })
    ),
    HttpApiEndpoint.get("list", "/runs", {
      query: runListQuery,
      success: RunPage,
      error: [Failure.UnknownCursor, Failure.SearchTooSlow]
    }).annotateMerge(
      operation({
        id: "listRuns",
        access: "viewer",
        summary: "List runs",
        description:
          "A page of the runs that match all filters, sandbox runs included. Values out of range are refused, not clamped."
      })
    ),
    HttpApiEndpoint.get("get", "/runs/:id", {
      params: id,
      query: runQuery,
      success: Run,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "getRun",
        access: "viewer",
        summary: "Read one run",
        description:
          "The record of a run. The bearer of a cancel callback is shown as `[REDACTED]`. With `wait=terminal` the answer " +
          "comes when the run has ended, or when `timeoutMs` is over; `status` distinguishes the two."
      })
    ),
    HttpApiEndpoint.get("state", "/runs/:id/state", {
      params: id,
      success: RunState,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "getRunState",
        access: "viewer",
        summary: "Read the projected state of a run",
        description:
          "The fold of all events of the run: what a screen about it shows. `timeline` says how far it reaches."
      })
    ),
    HttpApiEndpoint.get("metrics", "/runs/:id/metrics", {
      params: id,
      success: RunMetrics,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "getRunMetrics",
        access: "viewer",
        summary: "Read the counters of a run",
        description: "Events by kind, tokens, cost and duration, as of the last stored event."
      })
    ),
    HttpApiEndpoint.get("artifacts", "/runs/:id/artifacts", {
      params: id,
      success: Schema.Array(Artifact),
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "listArtifacts",
        access: "viewer",
        summary: "List the artifacts of a run",
        description: "All of them, oldest first. Each run gets one of kind `trace` when it starts running."
      })
    ),
    HttpApiEndpoint.get("messages", "/runs/:id/messages", {
      params: id,
      success: Schema.Array(OutboundMessage),
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "listMessages",
        access: "viewer",
        summary: "List the messages captured from the runtime stream",
        description:
          "One record for each message of the session's agents, oldest first, refused ones included. The service itself " +
          "sends none."
      })
    ),
    HttpApiEndpoint.get("message", "/runs/:id/messages/:messageId", {
      params: { ...id, messageId: textParam("Id that the sender gave it", "m-17") },
      success: AcceptedMessage,
      error: [Failure.RunNotFound, Failure.MessageNotFound]
    }).annotateMerge(
      operation({
        id: "getAcceptedMessage",
        access: "viewer",
        summary: "Read an accepted message of the session",
        description:
          "By its id, with the digest of its bytes: whether a message of a sender is on record, exactly as sent."
      })
    ),
    HttpApiEndpoint.post("cancel", "/runs/:id/cancel", {
      ...lifecycle,
      error: [
        ...lifecycleFailures,
        Failure.ObservedOnly,
        Failure.CancelNotPossible,
        Failure.CancelCallbackFailed,
        ...Failure.runtime
      ]
    }).annotateMerge(
      operation({
        id: "cancelRun",
        access: "operator",
        summary: "Cancel a run",
        description:
          "With `cancellationDelegated` in its metadata the service cancels the session itself; else it posts `{runId, reason}` " +
          "to the `cancelCallback`, whose owner cancels it. The answer waits up to 2 s for the end of the session, so `status` " +
          "is mostly `cancelled`. A run whose session the runtime does not know any more is cancelled in any case."
      })
    ),
    HttpApiEndpoint.post("suspend", "/runs/:id/suspend", {
      ...lifecycle,
      error: [...lifecycleFailures, Failure.ObservedOnly, Failure.NotRunning, ...Failure.runtime]
    }).annotateMerge(
      operation({
        id: "suspendRun",
        access: "operator",
        summary: "Suspend a running run",
        description:
          "Suspends the session on the runtime, which keeps what is left of its time-to-live. Only from `running`."
      })
    ),
    HttpApiEndpoint.post("resume", "/runs/:id/resume", {
      ...lifecycle,
      error: [...lifecycleFailures, Failure.ObservedOnly, Failure.NotSuspended, ...Failure.runtime]
    }).annotateMerge(
      operation({
        id: "resumeRun",
        access: "operator",
        summary: "Resume a suspended run",
        description: "Resumes the session on the runtime with the time-to-live that was left. Only from `suspended`."
      })
    ),
    HttpApiEndpoint.post("abandon", "/runs/:id/abandon", {
      ...lifecycle,
      payload: bodySchema(AbandonRun, { unknownKeys: "drop" }),
      error: [...lifecycleFailures, Failure.ObservedOnly, Failure.SessionOpened, ...Failure.runtime]
    }).annotateMerge(
      operation({
        id: "abandonRun",
        access: "operator",
        summary: "Report that the session of a run will not be opened",
        description:
          "For the program that starts the agents: a run that waits for its session fails at once, with the reason, and so does one " +
          "whose session the runtime does not know any more. A session that is on the runtime keeps its run, and the " +
          "answer is 409."
      })
    )
  )
  .annotateMerge(tag("Runs", "Creation, reading and life-cycle of runs. A run wraps one session on the runtime")) {}
