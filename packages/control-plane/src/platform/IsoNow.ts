import { isoTime } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The time of this process, ISO-8601. The time of runs is that of `DatabaseClock`. */
export const isoNow: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, isoTime)
