import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import { formerSettings } from "./FormerSettings.ts"
import { readText } from "./ReadSettings.ts"
import { PROGRAMS, type Program, type Setting } from "./Setting.ts"
import { settingsOfProgram, settingsTable } from "./SettingsTable.ts"

const WIDTH = 120

/** The settings of a program as a help page shows them: name, default, meaning. */
export const settingsHelp = (program: Program): string => {
  const rows = settingsOfProgram(program)
  const nameWidth = Math.max(...rows.map(({ name }) => name.length))
  const defaultWidth = Math.max(...rows.map(({ shownDefault }) => shownDefault.length))
  const indent = " ".repeat(2 + nameWidth + 2 + defaultWidth + 2)
  return rows
    .map(({ meaning, name, shownDefault }) => {
      const [first = "", ...more] = wrapped(meaning, WIDTH - indent.length)
      const line = `  ${name.padEnd(nameWidth)}  ${shownDefault.padEnd(defaultWidth)}  ${first}`
      return [line, ...more.map((rest) => `${indent}${rest}`)].join("\n")
    })
    .join("\n")
}

/** Whether a command line selects `printSettings`. */
export const wantsSettings = (args: ReadonlyArray<string>): boolean => args.includes("--print-settings")

/** A setting as it is in force; the value of a secret is masked. */
export interface SettingInForce {
  readonly name: string
  readonly value: string
  readonly isDefault: boolean
  readonly isSecret: boolean
  readonly meaning: string
}

/** The settings that a program starts with. Secrets are masked. */
export const settingsInForce = (program: Program) =>
  Effect.forEach(
    settingsOfProgram(program),
    Effect.fnUntraced(function* (setting) {
      const text = yield* readText(setting)
      const { meaning, name, secret, shownDefault } = setting
      const value = text === undefined ? shownDefault : secret && text !== "" ? MASK : text
      return { name, value, isDefault: text === undefined, isSecret: secret, meaning } satisfies SettingInForce
    })
  )

/** Prints the settings that a program would start with, a line each. Secrets are masked. */
export const printSettings = Effect.fn("printSettings")(function* (program: Program) {
  const dated = new Set(settingsOfProgram(program).flatMap(({ name, showsDate }) => (showsDate ? [name] : [])))
  for (const { isDefault, name, value } of yield* settingsInForce(program)) {
    const note = isDefault ? " (default)" : dated.has(name) ? ` (${yield* dateOf(value)})` : ""
    yield* Console.log(`${name}=${value}${note}`)
  }
})

/** The day of the last change of a file. */
const dateOf = (file: string) =>
  FileSystem.FileSystem.use((files) => files.stat(file)).pipe(
    Effect.map(({ mtime }) => Option.getOrUndefined(mtime)?.toISOString().slice(0, 10) ?? "without a date"),
    Effect.catchTag("PlatformError", ({ reason }) => Effect.succeed(`cannot be read: ${reason._tag}`))
  )

const MASK = "****"

const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && `${last} ${word}`.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** The whole table in Markdown: `docs/reference/settings.md`. */
export const settingsDocument = (): string =>
  `${[
    "# Settings",
    "Generated from the table in `packages/server/src/settings` by `npm run generate`. All settings are environment\nvariables. An empty value counts as no value.",
    "`1`, `true`, `yes` and `on` in any case are true. A value that cannot be used stops the start with a line for each such\nsetting, or gives way to the default with a warning. A name that looks like one of these and is not is reported too.",
    "A relative path starts at the folder in which the program is started. The commands of a checkout (`npm start`,\n`npm run ...`) start in its root, those of the package (`npx runplane ...`) in the current folder.",
    ...settingsTable.map(({ settings, title }) =>
      [`## ${title}`, [...HEAD, ...settings.map(lineOf)].join("\n")].join("\n\n")
    ),
    "## Settings of earlier releases",
    "A start reports each of these that is set, in one line. An older name in the tables above still works, unless the name\nof today is set too: the start reports it with that name.",
    ["| Name | Removed, because |", "|---|---|", ...removedLines].join("\n")
  ].join("\n\n")}\n`

const removedLines = PROGRAMS.flatMap(formerSettings).flatMap((former) =>
  "because" in former ? [`| \`${former.name}\` | ${former.because} |`] : []
)

const HEAD = ["| Name | Value | Default | Meaning | Since |", "|---|---|---|---|---|"]

const lineOf = ({ aliases, meaning, name, secret, shownDefault, since, type }: Setting<unknown>) => {
  const notes = [
    ...(secret ? [" Secret."] : []),
    ...(aliases.length > 0 ? [` Older name: ${aliases.map((alias) => `\`${alias}\``).join(", ")}.`] : [])
  ]
  const shown = shownDefault === "" ? "" : `\`${shownDefault}\``
  return `| \`${name}\` | ${type.label} | ${shown} | ${meaning}${notes.join("")} | ${since} |`
}
