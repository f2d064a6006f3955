import { ControlPlaneClient, LauncherClient } from "@runplane/api"
import { errorDetails, isDecided, oneLine, plainText, type RunOutcome, readOutcome } from "@runplane/cli"
import { type CanonicalEvent, DEFAULT_POLICY_ID } from "@runplane/domain"
import type { PolicyOutcome } from "@runplane/launcher"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"

/** The example did not come to its end; the message is one line. */
export class DemoFailed extends Data.TaggedError("DemoFailed")<{ readonly reason: string }> {
  override get message() {
    return `the example did not finish: ${plainText(this.reason)}`
  }
}

export interface DemoResult extends RunOutcome {
  readonly runId: string
}

const SCENARIO = { packSlug: "incident", scenarioSlug: "region-failover", version: "1.0.0" }

/** The scenario that is shown, with the defaults of its pack as inputs. */
export const DEMO_SCENARIO = `${SCENARIO.packSlug}/${SCENARIO.scenarioSlug}@${SCENARIO.version}`

/** An example that takes longer is stuck. */
const DEMO_TIMEOUT = Duration.seconds(60)

/** Time between two reads of the run that the launcher is submitting, and their number: calls are limited. */
const POLL_INTERVAL = Duration.millis(150)
const POLLS = 20

/**
 * Runs the example as every client would: starts it through the launch service, follows it over the public SSE stream,
 * and reads its state and metrics at the end. `onEvent` gets every event of the run once and in order.
 */
export const runDemo = Effect.fn("Demo.run")(
  function* (onEvent: (event: CanonicalEvent) => Effect.Effect<void>, policies: ReadonlyArray<PolicyOutcome> = []) {
    const launcher = yield* LauncherClient
    const { api, streamRun } = yield* ControlPlaneClient
    yield* checkPolicy(policies)
    const tag = `demo-${(yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)}`
    const payload = {
      scenarioRef: DEMO_SCENARIO,
      mode: "sandbox",
      inputs: {},
      bootstrapAgents: true,
      tags: [tag]
    } as const

    // The answer arrives when all agents have attached. The run exists earlier, and is shown from its first event on.
    const launch = yield* Effect.forkChild(launcher.launch.runExample({ payload }))
    const submitted = Effect.flatMap(Fiber.join(launch), ({ controlPlaneRun }) =>
      controlPlaneRun === undefined
        ? Effect.fail(new DemoFailed({ reason: "the control plane did not accept the run" }))
        : Effect.succeed(controlPlaneRun.runId)
    )
    const seen = api.runs.list({ query: { ...FIRST_MATCH, tags: [tag] } }).pipe(
      Effect.map(({ data }) => Option.fromUndefinedOr(data[0]?.id)),
      Effect.repeat({
        schedule: Schedule.spaced(POLL_INTERVAL).pipe(Schedule.upTo({ times: POLLS })),
        until: Option.isSome
      }),
      Effect.flatMap(Option.match({ onNone: () => submitted, onSome: Effect.succeed<string> }))
    )
    const runId = yield* Effect.raceFirst(seen, submitted)

    const followed = streamRun(runId, { afterSeq: 0 }).pipe(
      Stream.runForEach((frame) => (frame.event === "canonical_event" ? onEvent(frame.data) : Effect.void))
    )
    // The run of a failed launch would never end.
    yield* Effect.raceFirst(followed, Effect.andThen(submitted, Effect.never))

    const outcome = yield* readOutcome(api, runId)
    const { state } = outcome
    if (!isDecided(state))
      return yield* new DemoFailed({ reason: `the run ended as ${state.run.status}, without a decision` })
    return { runId, ...outcome } satisfies DemoResult
  },
  Effect.timeoutOrElse({ duration: DEMO_TIMEOUT, orElse: () => new DemoFailed({ reason: tooLong }) }),
  (demo) =>
    Effect.mapError(demo, (error) =>
      error._tag === "DemoFailed" ? error : new DemoFailed({ reason: `${oneLine(error)}${errorDetails(error)}` })
    )
)

/** Whether the served packs have the example. True when that cannot be read: the example then fails with the reason. */
export const hasExample = Effect.gen(function* () {
  const { catalog } = yield* LauncherClient
  return (yield* catalog.scenarios()).some(
    ({ packSlug, scenario, versions }) =>
      packSlug === SCENARIO.packSlug && scenario === SCENARIO.scenarioSlug && versions.includes(SCENARIO.version)
  )
}).pipe(Effect.orElseSucceed(() => true))

/** Without its policy the runtime would refuse the session, and the example would only fail by its timeout. */
const checkPolicy = Effect.fnUntraced(function* (policies: ReadonlyArray<PolicyOutcome>) {
  const launcher = yield* LauncherClient
  const { launchSummary } = yield* launcher.catalog.launchSchema({ params: SCENARIO, query: {} })
  const { policyVersion } = launchSummary
  if (policies.length === 0 || policyVersion === undefined) return
  // A broken file is shown by its own name.
  const outcome = policies.find(({ policy }) => policy === policyVersion || policy === `${policyVersion}.json`)
  if (outcome?.state === "registered" || policyVersion === DEFAULT_POLICY_ID) return
  const why = outcome === undefined ? "no policy file of the packs has it" : outcome.reason || "there was no answer"
  return yield* new DemoFailed({ reason: `its policy ${policyVersion} is not registered: ${why}` })
})

const tooLong = `no decision within ${Duration.format(DEMO_TIMEOUT)}`

const FIRST_MATCH = { limit: 1, offset: 0, sortBy: "createdAt", sortOrder: "desc", includeArchived: false } as const
