import { type ControlPlaneClient, type LauncherClient, MAX_MARK_PAGE } from "@runplane/api"
import {
  activePolicy,
  caseRun,
  type DeliberationReader,
  deliberationReader,
  expectedSide,
  markMean,
  outlineReader,
  policyReader,
  runDuration,
  SHADOW_ACTS,
  shadowPair,
  type Trial,
  trialReader
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { CliFailure, EXIT_CODES } from "../CliFailure.ts"
import type { RanTrial, RunTrial, Trials } from "./GateRunner.ts"

interface Services {
  readonly plane: ControlPlaneClient["Service"]
  readonly launcher: LauncherClient["Service"]
  readonly planeFailure: (error: unknown) => CliFailure
  readonly launcherFailure: (error: unknown) => CliFailure
}

/** The pause before a launch is tried again while other launches occupy the agents' slots. */
const FULL_PAUSE = "2 seconds"

/** How long a gate waits for a control plane that restarts. */
const OUTAGE = "30 seconds"
const OUTAGE_CHECKS = Schedule.spaced("2 seconds").pipe(Schedule.upTo({ duration: OUTAGE }))

/** How long the acts of a shadow may take after the end of its run: it may still act, and then has to end. */
const SHADOW_WAIT = "3 minutes"
const SHADOW_PAUSE = "500 millis"

const isUnreachable = ({ code }: CliFailure) => code === EXIT_CODES.unreachable

/**
 * Launches runs through the launch service with their example agents. A launch that fails is a failed run; a service
 * that cannot be reached, or that refuses the request, fails the gate. An interrupted run is cancelled.
 */
export const liveTrials = (gateId: string, services: Services, shadow?: string): Trials => {
  const { launcher, launcherFailure, plane, planeFailure } = services

  const cancel = (runId: string) =>
    plane.api.runs
      .cancel({ params: { id: runId }, payload: { reason: `gate ${gateId} ended` } })
      .pipe(Effect.timeout("10 seconds"), Effect.ignore)

  const meanOf = Effect.fnUntraced(
    function* (runId: string, name: string) {
      const query = { history: false, limit: MAX_MARK_PAGE, offset: 0, name }
      const { data } = yield* plane.api.marks.list({ params: { id: runId }, query })
      return markMean(data.map(({ value }) => value))
    },
    Effect.mapError(planeFailure),
    Effect.retry({ schedule: OUTAGE_CHECKS, while: isUnreachable })
  )

  /** The votes of a participant and its shadow, whose acts the launch service adds after the end of the run. */
  const pairOf = Effect.fnUntraced(
    function* (record: DeliberationReader, shadow: string, expected: boolean) {
      const { runId } = record.read()
      const acts = Effect.map(
        plane.api.events.list({
          params: { id: runId },
          query: { type: ["artifact.created"], limit: 1_000, afterSeq: 0 }
        }),
        (page) =>
          ("data" in page ? page.data : page).filter(
            (event) => event.type === "artifact.created" && event.data.kind === SHADOW_ACTS
          )
      )
      const found = yield* Effect.repeat(acts, {
        until: (events) =>
          events.some((event) => event.type === "artifact.created" && event.data.shadow?.shadow === shadow),
        schedule: Schedule.spaced(SHADOW_PAUSE).pipe(Schedule.upTo({ duration: SHADOW_WAIT }))
      })
      for (const event of found) record.take(event)
      const run = record.read()
      const by = activePolicy(run, () => undefined, policyReader())
      return shadowPair(run, by, shadow, expected) ?? { runId, participant: undefined, shadow: undefined }
    },
    Effect.mapError(planeFailure),
    Effect.retry({ schedule: OUTAGE_CHECKS, while: isUnreachable })
  )

  const marks = Effect.fnUntraced(function* (runId: string, names: ReadonlyArray<string>) {
    const means = yield* Effect.forEach(names, (name) => Effect.map(meanOf(runId, name), (mean) => ({ name, mean })))
    return Object.fromEntries(means.flatMap(({ mean, name }) => (mean === undefined ? [] : [[name, mean]])))
  })

  const run: RunTrial = ({ case: one }, nth) =>
    Effect.gen(function* () {
      const { inputs, ...varied } = caseRun(one, nth)
      const launched = yield* launcher.launch
        .runExample({
          payload: {
            scenarioRef: one.scenarioRef,
            mode: "sandbox",
            inputs,
            bootstrapAgents: true,
            ...(one.template !== undefined && { templateId: one.template }),
            tags: [`gate:${gateId}`, `case:${one.name}`],
            gate: { case: one.name, ...varied }
          }
        })
        .pipe(
          Effect.retry({ schedule: Schedule.spaced(FULL_PAUSE), while: ({ _tag }) => _tag === "LaunchesFull" }),
          Effect.mapError(launcherFailure)
        )
      const { compiled, controlPlaneRun: run, links } = launched
      if (run === undefined) yield* awaitAnswer(probeOf(services))
      if (run === undefined) return failedTrial("no control plane accepted the run; check PROTO_CONTROL_PLANE_URL")
      const { policyVersion } = compiled.runDescriptor.session
      const {
        found,
        run: record,
        ...followed
      } = yield* followTrial(plane, run.runId).pipe(
        Effect.mapError(planeFailure),
        Effect.retry({ schedule: OUTAGE_CHECKS, while: isUnreachable }),
        Effect.onExit((exit) => (exit._tag === "Success" ? Effect.void : cancel(run.runId)))
      )
      const promptHash = found.metadata["promptHash"]
      const expected = expectedSide(one.expect ?? {})
      const pair = shadow === undefined || expected === undefined ? undefined : yield* pairOf(record, shadow, expected)
      return {
        ...followed,
        ...(pair !== undefined && { pair }),
        ...(found.status === "failed" && { failure: found.errorMessage ?? "the run failed" }),
        ...(typeof promptHash === "string" && { promptHash }),
        ...(links !== undefined && { page: links.page }),
        ...(policyVersion !== undefined && { policyVersion })
      }
    }).pipe(
      Effect.catchIf(
        ({ code }) => code === EXIT_CODES.failed,
        ({ reason }) => Effect.succeed(failedTrial(reason))
      )
    )

  return { run, marks }
}

/** Follows a run to its end. */
export const followTrial = Effect.fnUntraced(function* (plane: ControlPlaneClient["Service"], runId: string) {
  const fresh = () => ({ trial: trialReader(), outline: outlineReader(), run: deliberationReader() })
  let readers = fresh()
  yield* plane.streamRun(runId, { afterSeq: 0, snapshots: "first" }).pipe(
    Stream.runForEach((frame) =>
      Effect.sync(() => {
        if (frame.event === "reset") readers = fresh()
        if (frame.event !== "canonical_event") return
        readers.trial.take(frame.data)
        readers.outline.take(frame.data)
        readers.run.take(frame.data)
      })
    )
  )
  const found = yield* plane.api.runs.get({ params: { id: runId }, query: {} })
  const trial = readers.trial.read({ runId, status: found.status, durationMs: runDuration(found) })
  return { found, trial, course: { runId, outline: readers.outline.read() }, run: readers.run }
})

const failedTrial = (failure: string): RanTrial => {
  const trial: Trial = {
    runId: "",
    outcome: { action: "failed", positive: null },
    excluded: "failed",
    costUsd: 0,
    durationMs: undefined,
    mindChanges: 0,
    models: []
  }
  return { trial, failure }
}

/** Waits for a control plane that does not answer, or only its proxy does; fails as unreachable after some time. */
const awaitAnswer = (probe: Effect.Effect<unknown, CliFailure>) =>
  probe.pipe(
    // An answer such as 429 shows that it is there.
    Effect.catchIf(
      ({ code }) => code === EXIT_CODES.refused,
      () => Effect.void
    ),
    Effect.mapError(({ reason }) => new CliFailure({ reason, code: EXIT_CODES.unreachable })),
    Effect.retry({ schedule: OUTAGE_CHECKS })
  )

/** Fails once `probe` has failed for some time; open streams only reconnect. */
export const lossOf = (probe: Effect.Effect<unknown, CliFailure>) =>
  Effect.forever(Effect.delay(awaitAnswer(probe), "5 seconds"))

/** One health check of the control plane. */
export const probeOf = ({ plane, planeFailure }: Pick<Services, "plane" | "planeFailure">) =>
  plane.api.health.healthz().pipe(Effect.timeout("10 seconds"), Effect.mapError(planeFailure))

/** Fails when the control plane or the launch service cannot be reached. */
export const requireServices = ({ launcher, launcherFailure, plane, planeFailure }: Services) =>
  Effect.gen(function* () {
    yield* Effect.mapError(plane.api.health.healthz(), planeFailure)
    yield* Effect.mapError(launcher.launch.queue(), launcherFailure)
  })
