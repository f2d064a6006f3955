import type { Mode } from "./Mode.ts"
import { DecisionMode } from "./modes/DecisionMode.ts"

/** Every mode this runtime serves, in the order of ListModes. A mode that is not listed answers MODE_NOT_SUPPORTED. */
export const MODES: ReadonlyArray<Mode> = [DecisionMode]

const byId = new Map(MODES.map((mode) => [mode.info.mode, mode]))

export const findMode = (id: string): Mode | undefined => byId.get(id)

/** Extension modes are listed by ListExtModes, all others by ListModes (runtime-wire section 1.10). */
export const isStandardMode = (id: string): boolean => id.startsWith("macp.mode.")
