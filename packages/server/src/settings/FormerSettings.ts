import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SettingProblem } from "./ReadSettings.ts"
import type { Program } from "./Setting.ts"
import { settingsOfProgram } from "./SettingsTable.ts"

/** A setting that an earlier release read: its name now, which is read in its stead, or why there is none. */
export type FormerSetting =
  | { readonly name: string; readonly now: string }
  | { readonly name: string; readonly because: string }

const THROUGH_POSTGRESQL = "the processes notify each other through PostgreSQL"

/** Settings without a row, by the program that read them. A row that is removed leaves its name and the reason here. */
const REMOVED: Readonly<Partial<Record<Program, Readonly<Record<string, string>>>>> = {
  "control-plane": {
    STREAM_RESUME_ENABLED: "a broken stream is always resumed",
    STREAM_HUB_STRATEGY: THROUGH_POSTGRESQL,
    REDIS_URL: THROUGH_POSTGRESQL
  }
}

/** All settings that a program of an earlier release read under another name, or does not read any more. */
export const formerSettings = (program: Program): ReadonlyArray<FormerSetting> => [
  ...settingsOfProgram(program).flatMap(({ aliases, name: now }) => aliases.map((name) => ({ name, now }))),
  ...Object.entries(REMOVED[program] ?? {}).map(([name, because]) => ({ name, because }))
]

/** The names of all removed settings. */
export const removedNames: ReadonlySet<string> = new Set(Object.values(REMOVED).flatMap((names) => Object.keys(names)))

const textOf = (name: string) =>
  Effect.map(Effect.orDie(Config.option(Config.String(name))), (found) => Option.getOrUndefined(found)?.trim())

/** Reports each former setting of a program that is set. An older name counts only without its name of today. */
export const formerProblems = Effect.fnUntraced(function* (program: Program) {
  const problems: Array<SettingProblem> = []
  for (const former of formerSettings(program)) {
    const { name: variable } = former
    if (((yield* textOf(variable)) ?? "") === "") continue
    if ("because" in former) problems.push({ variable, problem: `is removed, because ${former.because}` })
    else if ((yield* textOf(former.now)) === undefined) {
      problems.push({ variable, problem: `is renamed: use ${former.now}` })
    }
  }
  return problems
})
