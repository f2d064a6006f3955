/** The programs that read settings. */
export const PROGRAMS = ["control-plane", "launcher", "stack", "sandbox", "agents", "cli"] as const
export type Program = (typeof PROGRAMS)[number]

/** What a text turns out to be for a type of setting. A problem is read after the setting's name. */
export type Reading<A> =
  | { readonly _tag: "Value"; readonly value: A }
  /** The service starts; `value` is used, or the default when there is none. */
  | { readonly _tag: "Warning"; readonly problem: string; readonly value?: A }
  /** The service does not start. */
  | { readonly _tag: "Fault"; readonly problem: string }

/** How a text becomes a value. */
export interface SettingType<A> {
  /** For readers: `milliseconds, at least 1`. */
  readonly label: string
  /** Reads a trimmed text. */
  readonly read: (text: string) => Reading<A>
}

/** One row of the table: all that is to be known about a setting. */
export interface Setting<A> {
  readonly name: string
  /** Older names; read when `name` is not set. */
  readonly aliases: ReadonlyArray<string>
  readonly programs: ReadonlyArray<Program>
  readonly type: SettingType<A>
  /** The value when nothing is set, in an environment (NODE_ENV). */
  readonly fallback: (environment: string) => A
  /** The default as documents show it; empty when there is none. */
  readonly shownDefault: string
  /** One sentence. */
  readonly meaning: string
  /** The value must not be shown anywhere. */
  readonly secret: boolean
  /** The value names a file, and `--print-settings` shows the day of its last change. */
  readonly showsDate: boolean
  /** An empty value means something other than no value. */
  readonly emptyCounts: boolean
  /** The first version that reads it. */
  readonly since: string
}

/** A row without its name and programs, which its table adds. */
export type Row<A> = Omit<Setting<A>, "name" | "programs">

type RowOptions<A> = Partial<Omit<Row<A>, "type" | "fallback" | "meaning">>

const FIRST_VERSION = "0.1.0"

/** A row: type, default, meaning in one sentence, and its options. */
export const row = <A, const D = A>(
  type: SettingType<A>,
  fallback: D,
  meaning: string,
  options: RowOptions<A | D> = {}
): Row<A | D> => ({
  aliases: [],
  secret: false,
  showsDate: false,
  emptyCounts: false,
  since: FIRST_VERSION,
  shownDefault: textOf(fallback),
  ...options,
  type,
  fallback: () => fallback,
  meaning
})

const textOf = (fallback: unknown): string => {
  if (Array.isArray(fallback)) return fallback.join(",")
  return typeof fallback === "string" || typeof fallback === "number" || typeof fallback === "boolean"
    ? String(fallback)
    : ""
}

/** The environment when NODE_ENV is not set. */
export const DEVELOPMENT = "development"

/** A row whose default is true in development and false elsewhere. */
export const developmentRow = (type: SettingType<boolean>, meaning: string): Row<boolean> => ({
  ...row(type, false, meaning, { shownDefault: "true in development, else false" }),
  fallback: (environment) => environment === DEVELOPMENT
})

/** The rows by their names, as settings of the programs. */
export const settingsOf = <Rows extends Readonly<Record<string, Row<unknown>>>>(
  programs: ReadonlyArray<Program>,
  rows: Rows
): { readonly [Name in keyof Rows]: Rows[Name] extends Row<infer A> ? Setting<A> : never } =>
  // `fromEntries` does not carry the type of each key.
  Object.fromEntries(Object.entries(rows).map(([name, given]) => [name, { ...given, name, programs }])) as never
