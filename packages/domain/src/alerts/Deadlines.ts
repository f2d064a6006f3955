import { measureOf } from "./Measures.ts"
import type { AlertRule } from "./Rule.ts"
import type { RunMemory } from "./RunMemory.ts"

/** Whether the clock can make a rule fire. */
export const hasDeadline = ({ measure }: AlertRule): boolean => measureOf(measure).clock !== undefined

/** When the clock alone lets a run reach a threshold; undefined while it does not run. */
export const dueAt = ({ measure }: AlertRule, memory: RunMemory, threshold: number): number | undefined =>
  memory.state === "running" ? measureOf(measure).clock?.dueAt(memory, threshold) : undefined
