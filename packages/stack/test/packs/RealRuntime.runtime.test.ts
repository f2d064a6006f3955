import { startRuntime } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { packSuite } from "./support/PackSuite.ts"
import { POLICIES, Venue } from "./support/Rehearsal.ts"

/** The runtime reads the policies from their folder, and refuses to start when one of them is not right. */
const real = Layer.effect(
  Venue,
  Effect.map(startRuntime({ MACP_MEMORY_ONLY: "1", MACP_POLICIES_DIR: POLICIES }), (address) => ({ address }))
)

packSuite("the scenario packs on macp-runtime", real)
