import { whyExpired } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SeatSession } from "../SeatSession.ts"
import type { SuspensionRows } from "./SuspensionRows.ts"

/** Why a session has expired that its seat suspends; undefined for every other end. */
export const expiryOf = Effect.fnUntraced(function* <E>(
  rows: SuspensionRows["Service"],
  nowUnixMs: Effect.Effect<number, E>,
  { row, rules, view }: SeatSession,
  ended: string | undefined
) {
  if (ended !== "EXPIRED" || rules.wait === "open") return undefined
  const times = view.opening ?? { ttlMs: 0, maxSuspendMs: 0 }
  return whyExpired(yield* rows.of(row.sessionId), times, yield* nowUnixMs)
})
