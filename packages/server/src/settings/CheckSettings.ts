import * as Effect from "effect/Effect"
import { readText, type SettingProblem, SettingsRefused, sentenceOf } from "./ReadSettings.ts"
import type { Program } from "./Setting.ts"
import { settingsOfProgram } from "./SettingsTable.ts"
import { configuredNames, unknownSettings } from "./UnknownSettings.ts"

/** The texts of the settings that are set, by name. */
export type SettingTexts = ReadonlyMap<string, string>

export interface Judgement {
  /** What stops the start. */
  readonly faults: ReadonlyArray<SettingProblem>
  /** What is not as somebody may think it is, but no reason not to start. */
  readonly warnings: ReadonlyArray<SettingProblem>
}

/** What the rows of a program say about the texts, one at a time. */
export const judgeRows = (program: Program, texts: SettingTexts): Judgement => {
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

type Judge<E, R> = (texts: SettingTexts) => Effect.Effect<Judgement, E, R>

/** All that is to be said about the settings of a program. `judge` says what is wrong with them taken together. */
export const judgeSettings = Effect.fnUntraced(function* <E = never, R = never>(
  program: Program,
  judge: Judge<E, R> = () => Effect.succeed({ faults: [], warnings: [] })
) {
  const texts = yield* readTexts(program)
  const rows = judgeRows(program, texts)
  const together = yield* judge(texts)
  const unknown = unknownSettings(yield* Effect.orDie(configuredNames))
  const judgement: Judgement = {
    faults: [...together.faults, ...rows.faults],
    warnings: [...rows.warnings, ...together.warnings, ...unknown]
  }
  return judgement
})

/**
 * Looks at all settings of a program before anything is started: what cannot be used is logged at once, a line for each
 * setting, and stops the start.
 */
export const checkSettings = Effect.fn("checkSettings")(function* <E = never, R = never>(
  program: Program,
  judge?: Judge<E, R>
) {
  const { faults, warnings } = yield* judgeSettings(program, judge)
  for (const warning of warnings) yield* Effect.logWarning(sentenceOf(warning))
  if (faults.length === 0) return
  for (const fault of faults) yield* Effect.logError(sentenceOf(fault))
  return yield* new SettingsRefused({ faults })
})
