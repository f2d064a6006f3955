/*
 * Without this: every command of `runplane` loads 800 KB of prices at its start; costs 80 ms.
 */
import * as Effect from "effect/Effect"

/** The catalogue of model prices. */
export const catalogueModule = Effect.promise(() => import("@runplane/prices"))
