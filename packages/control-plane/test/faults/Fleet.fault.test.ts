import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { shareTheWork } from "./support/Fleet.ts"

describe("two processes on one database", () => {
  it.live("start together, share the runs, and one adopts the runs of the other when it is killed", () =>
    Effect.scoped(shareTheWork(4))
  )
})
