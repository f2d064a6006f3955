import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { surviveRestarts } from "./support/DatabaseRestarts.ts"
import type { Stop } from "./support/OwnPostgres.ts"

const STOPS: ReadonlyArray<Stop> = ["immediate", "kill", "fast", "kill", "immediate", "fast", "kill", "immediate"]

describe("a database that goes down again and again, in every way", () => {
  it.live("costs no event, no subscriber and no process", () => Effect.scoped(surviveRestarts(STOPS)), 240_000)
})
