import { forever } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LauncherSettings } from "../LauncherSettings.ts"
import { People } from "../people/People.ts"

/** Pause between two searches for sessions whose texts are due. Milliseconds. */
const EVERY_MS = 3_600_000
/** Pause while more are due. Milliseconds. */
const MORE_MS = 100

/** Erases the texts of sessions that are over for some days (docs/reference/people.md#erasure). */
export const layerPeopleRetention = Layer.effectDiscard(
  Effect.gen(function* () {
    const people = yield* People
    const { peopleRetentionDays: days } = yield* LauncherSettings
    if (people === undefined) return
    const round = Effect.gen(function* () {
      const { isMore, sessions } = yield* people.erasures.expire(days)
      if (sessions > 0) yield* Effect.logInfo(`erased the texts of questions of ${sessions} sessions`)
      const delegations = yield* people.delegations.expire(days)
      if (delegations > 0) yield* Effect.logInfo(`erased the reasons of ${delegations} delegations`)
      return { pauseMs: isMore ? MORE_MS : EVERY_MS }
    })
    yield* Effect.forkScoped(forever("people-retention", round))
  })
)
