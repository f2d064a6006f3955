import { AgentSettings } from "./AgentSettings.ts"
import { CliSettings } from "./CliSettings.ts"
import { ControlPlaneSettings } from "./ControlPlaneSettings.ts"
import { LaunchSettings } from "./LaunchSettings.ts"
import { RuntimeSettings } from "./RuntimeSettings.ts"
import { SandboxSettings } from "./SandboxSettings.ts"
import { ServiceSettings } from "./ServiceSettings.ts"
import type { Program, Setting } from "./Setting.ts"
import { StackSettings } from "./StackSettings.ts"

/** Rows that are shown together. */
export interface SettingsGroup {
  readonly title: string
  readonly settings: ReadonlyArray<Setting<unknown>>
}

/** Every setting of every program, in the order in which documents show them. */
export const settingsTable: ReadonlyArray<SettingsGroup> = [
  { title: "Both services", settings: Object.values(ServiceSettings) },
  { title: "Control plane", settings: Object.values(ControlPlaneSettings) },
  { title: "Control plane: the runtime", settings: Object.values(RuntimeSettings) },
  { title: "Launch service", settings: Object.values(LaunchSettings) },
  { title: "Everything on one machine (`npm start`)", settings: Object.values(StackSettings) },
  { title: "Sandbox runtime, alone", settings: Object.values(SandboxSettings) },
  { title: "Agents", settings: Object.values(AgentSettings) },
  { title: "The command `runplane`", settings: Object.values(CliSettings) }
]

const everySetting = settingsTable.flatMap(({ settings }) => settings)
export const settingsOfProgram = (program: Program): ReadonlyArray<Setting<unknown>> =>
  everySetting.filter(({ programs }) => programs.includes(program))

/** Every name and alias that some program reads. */
export const settingNames: ReadonlySet<string> = new Set(
  everySetting.flatMap(({ aliases, name }) => [name, ...aliases])
)
