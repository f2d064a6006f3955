import type { Mode } from "./Mode.ts"
import { DecisionMode } from "./modes/DecisionMode.ts"
import { HandoffMode } from "./modes/HandoffMode.ts"
import { MultiRoundMode } from "./modes/MultiRoundMode.ts"
import { ProposalMode } from "./modes/ProposalMode.ts"
import { QuorumMode } from "./modes/QuorumMode.ts"
import { TaskMode } from "./modes/TaskMode.ts"

/** Every mode this runtime serves, in the order of ListModes. A mode that is not listed answers MODE_NOT_SUPPORTED. */
export const MODES: ReadonlyArray<Mode> = [
  DecisionMode,
  ProposalMode,
  TaskMode,
  HandoffMode,
  QuorumMode,
  MultiRoundMode
]

const byId = new Map(MODES.map((mode) => [mode.info.mode, mode]))

export const findMode = (id: string): Mode | undefined => byId.get(id)

/** Extension modes are listed by ListExtModes, all others by ListModes (docs/internals/runtime.md#rpcs). */
export const isStandardMode = (id: string): boolean => id.startsWith("macp.mode.")
