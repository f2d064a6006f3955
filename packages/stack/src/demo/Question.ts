import { LauncherClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"

const SCENARIO = { packSlug: "incident", scenarioSlug: "night-failover", version: "1.0.0" }

/** A scenario with a person among three agents, whose answer decides the run. */
export const QUESTION_SCENARIO = `${SCENARIO.packSlug}/${SCENARIO.scenarioSlug}@${SCENARIO.version}`

/** The agents evaluate before the question opens. Calls are limited, so it is read once a second. */
const POLL_INTERVAL = "1 second"
const POLLS = 45

/** The state of the example with a person. */
export type Question =
  | { readonly _tag: "Open"; readonly item: string; readonly title: string | undefined }
  /** The packs do not have it. */
  | { readonly _tag: "Absent" }
  /** The launch service has no database for seats. */
  | { readonly _tag: "NoDatabase" }
  | { readonly _tag: "Failed"; readonly reason: string }

/**
 * Launches the example with a person, and waits until its question takes an answer. The session goes on without this
 * program: an unanswered question ends it as its policy says.
 */
export const openQuestion = Effect.gen(function* () {
  const launcher = yield* LauncherClient
  const scenarios = yield* launcher.catalog.scenarios()
  const isServed = scenarios.some(
    ({ packSlug, scenario, versions }) =>
      packSlug === SCENARIO.packSlug && scenario === SCENARIO.scenarioSlug && versions.includes(SCENARIO.version)
  )
  if (!isServed) {
    const absent: Question = { _tag: "Absent" }
    return absent
  }
  const payload = { scenarioRef: QUESTION_SCENARIO, mode: "sandbox", inputs: {}, bootstrapAgents: true } as const
  const launched = yield* launcher.launch.runExample({ payload }).pipe(
    Effect.map(({ sessionId }) => Option.fromUndefinedOr(sessionId)),
    Effect.catchIf(
      (error) => "errorCode" in error && error.errorCode === "INVALID_CONFIG",
      () => Effect.succeed(Option.none<string>())
    )
  )
  if (Option.isNone(launched)) {
    const noDatabase: Question = { _tag: "NoDatabase" }
    return noDatabase
  }
  const sessionId = launched.value
  const opened = yield* launcher.inbox.list({ query: { state: ["open"], scope: "own", limit: 100 } }).pipe(
    Effect.map(({ data }) => Option.fromUndefinedOr(data.find((item) => item.sessionId === sessionId))),
    Effect.repeat({
      schedule: Schedule.spaced(POLL_INTERVAL).pipe(Schedule.upTo({ times: POLLS })),
      until: Option.isSome
    })
  )
  return Option.match(opened, {
    onNone: (): Question => ({ _tag: "Failed", reason: `no question within ${POLLS} seconds` }),
    onSome: ({ id, title }): Question => ({ _tag: "Open", item: id, title })
  })
})
