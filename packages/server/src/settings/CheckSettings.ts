import * as Effect from "effect/Effect"
import { formerProblems } from "./FormerSettings.ts"
import { readText, type SettingProblem, SettingsRefused, sentenceOf } from "./ReadSettings.ts"
import type { Program } from "./Setting.ts"
import { settingsOfProgram } from "./SettingsTable.ts"
import { configuredNames, unknownSettings } from "./UnknownSettings.ts"

/** The texts of the settings that are set, by name. */
export type SettingTexts = ReadonlyMap<string, string>

export interface SettingsReport {
  /** What stops the start. */
  readonly faults: ReadonlyArray<SettingProblem>
  /** Settings that may surprise, but do not stop the start. */
  readonly warnings: ReadonlyArray<SettingProblem>
}

/** What the rows of a program say about the texts, one at a time. */
export const validateRows = (program: Program, texts: SettingTexts): SettingsReport => {
  const faults: Array<SettingProblem> = []
  const warnings: Array<SettingProblem> = []
  for (const { name, type } of settingsOfProgram(program)) {
    const text = texts.get(name)
    if (text === undefined) continue
    const reading = type.read(text)
    if (reading._tag === "Fault") faults.push({ variable: name, problem: reading.problem })
    if (reading._tag === "Warning") warnings.push({ variable: name, problem: reading.problem })
  }
  return { faults, warnings }
}

const readTexts = Effect.fnUntraced(function* (program: Program) {
  const texts = new Map<string, string>()
  for (const setting of settingsOfProgram(program)) {
    const text = yield* readText(setting)
    if (text !== undefined) texts.set(setting.name, text)
  }
  return texts
})

type Validate<E, R> = (texts: SettingTexts) => Effect.Effect<SettingsReport, E, R>

/** The faults and warnings of the settings of a program. `validate` checks rules across settings. */
export const validateSettings = Effect.fnUntraced(function* <E = never, R = never>(
  program: Program,
  validate: Validate<E, R> = () => Effect.succeed({ faults: [], warnings: [] })
) {
  const texts = yield* readTexts(program)
  const rows = validateRows(program, texts)
  const together = yield* validate(texts)
  const former = yield* formerProblems(program)
  const unknown = unknownSettings(yield* Effect.orDie(configuredNames))
  const report: SettingsReport = {
    faults: [...together.faults, ...rows.faults],
    warnings: [...rows.warnings, ...together.warnings, ...former, ...unknown]
  }
  return report
})

/**
 * Validates all settings of a program before anything is started: each fault is logged in a line, and stops the start.
 */
export const checkSettings = Effect.fn("checkSettings")(function* <E = never, R = never>(
  program: Program,
  validate?: Validate<E, R>
) {
  const { faults, warnings } = yield* validateSettings(program, validate)
  for (const warning of warnings) yield* Effect.logWarning(sentenceOf(warning))
  if (faults.length === 0) return
  for (const fault of faults) yield* Effect.logError(sentenceOf(fault))
  return yield* new SettingsRefused({ faults })
})
