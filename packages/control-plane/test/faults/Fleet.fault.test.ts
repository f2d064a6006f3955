import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { shareTheWork } from "./Fleet.ts"

describe("two processes on one database", () => {
  it.live("start together, share the runs, and one takes over when the other is killed", () =>
    Effect.scoped(shareTheWork(4))
  )
})
