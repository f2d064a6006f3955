import { assert } from "@effect/vitest"
import { type ChainVersion, eventBytes, linksOf, storedSalts } from "@runplane/domain"
import { sha256 } from "../../src/platform/Sha256.ts"

/** The head of the chain of these stored events, hexadecimal. */
export const headOf = (
  runId: string,
  events: ReadonlyArray<{ readonly event: string; readonly index: number; readonly salts: string | null }>,
  version: ChainVersion = 2
): string => {
  const { next, start } = linksOf(sha256, runId, version, [])
  const head = events.reduce((before, { event, index, salts }) => {
    const after = next(before, eventBytes(event), index, storedSalts(salts))
    return typeof after === "string" ? assert.fail(`event ${index}: ${after}`) : after
  }, start)
  return Buffer.from(head).toString("hex")
}
