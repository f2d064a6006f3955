import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { surviveRestarts } from "./support/DatabaseRestarts.ts"

describe("a database that is restarted in mid-stream", () => {
  it.live("costs no event, no subscriber and no process", () => Effect.scoped(surviveRestarts(["fast"])))
})
