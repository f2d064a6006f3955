import { hash, pick } from "../runner/Seed.ts"
import type { ErasureContext } from "./ErasureContext.ts"

export interface ErasedSystem {
  readonly system: string
  readonly records: number
}

/** How many records each system turns out to hold: all of them together the estimate, spread as the seed says. */
export const recordsBySystem = (
  { recordsEstimated, systems }: ErasureContext,
  seed: string
): ReadonlyArray<ErasedSystem> => {
  const weights = systems.map((system) => 1 + (hash(`${seed}:${system}`) % 9))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let left = recordsEstimated
  return systems.map((system, index) => {
    const isLast = index === systems.length - 1
    const records = isLast ? left : Math.min(left, Math.floor((recordsEstimated * (weights[index] ?? 1)) / total))
    left -= records
    return { system, records }
  })
}

/** The report of a finished erasure as JSON; empty when the systems kept no log to make it from. */
export const reportOf = (context: ErasureContext, self: string, seed: string): Uint8Array<ArrayBuffer> => {
  if (!context.erasureLog) return new Uint8Array()
  const erased = recordsBySystem(context, seed)
  const { requestId, subjectRef } = context
  const certificate = `${requestId}-${hash(`${seed}:${subjectRef}`).toString(16).padStart(8, "0")}`
  return new TextEncoder().encode(JSON.stringify({ requestId, subjectRef, erasedBy: self, erased, certificate }))
}

/** Why an engineer does not take the task; undefined when it does. */
export const refusal = (context: ErasureContext, self: string): string | undefined => {
  const backlog = context.backlogHours[self] ?? 0
  return backlog > context.startWithinHours
    ? `${backlog} h of work come first, this has to begin within ${context.startWithinHours} h`
    : undefined
}

export const stepOf = ({ records, system }: ErasedSystem, seed: string): string => {
  const verb = pick(`${seed}:${system}`, ["erased", "removed and verified", "overwritten and checked"])
  return `${records} records ${verb} in ${system}`
}
