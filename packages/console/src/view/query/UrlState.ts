/**
 * One parameter of an address: how its text is read and written. Reading is total: what cannot be read is the default,
 * so no address breaks a page. A default is not written.
 */
export interface Param<A> {
  readonly read: (text: string | null) => A
  readonly write: (value: A) => string | undefined
}

export type Params = Readonly<Record<string, Param<never>>>
export type ValuesOf<P> = { readonly [Key in keyof P]: P[Key] extends Param<infer A> ? A : never }

/** Longer texts in an address are cut: an address is untrusted input. */
const MAX_TEXT = 2_000

export const textParam: Param<string> = {
  read: (text) => (text ?? "").slice(0, MAX_TEXT),
  write: (value) => (value === "" ? undefined : value.slice(0, MAX_TEXT))
}

export const flagParam: Param<boolean> = {
  read: (text) => text === "true",
  write: (value) => (value ? "true" : undefined)
}

/** A flag that may be left open. */
export const choiceParam: Param<boolean | undefined> = {
  read: (text) => (text === "true" ? true : text === "false" ? false : undefined),
  write: (value) => (value === undefined ? undefined : String(value))
}

/** A whole number of at least `min`, or nothing. */
export const numberParam = (min: number): Param<number | undefined> => ({
  read: (text) => {
    const number = Number(text)
    return text !== null && /^\d{1,15}$/.test(text) && number >= min ? number : undefined
  },
  write: (value) => (value === undefined ? undefined : String(value))
})

/** One of the words; the first is the default. */
export const wordParam = <const Words extends readonly [string, ...Array<string>]>(
  words: Words
): Param<Words[number]> => ({
  read: (text) => words.find((word) => word === text) ?? words[0],
  write: (value) => (value === words[0] ? undefined : value)
})

/** Texts between commas, each once. */
export const listParam: Param<ReadonlyArray<string>> = {
  read: (text) => [
    ...new Set(
      (text ?? "")
        .slice(0, MAX_TEXT)
        .split(",")
        .filter((part) => part !== "")
    )
  ],
  write: (value) => (value.length === 0 ? undefined : value.join(","))
}

/** The values of the parameters in an address (`?a=b`). */
export const readParams = <P extends object>(params: P, search: string): ValuesOf<P> => {
  const given = new URLSearchParams(search)
  // `fromEntries` does not carry the type of each key.
  return Object.fromEntries(
    Object.entries(params).map(([name, param]) => [name, (param as Param<unknown>).read(given.get(name))])
  ) as ValuesOf<P>
}

/** The address with some parameters changed; those that are not named, and not ours, stay. Empty without any. */
export const writeParams = <P extends object>(params: P, search: string, patch: Partial<ValuesOf<P>>): string => {
  const next = new URLSearchParams(search)
  for (const [name, value] of Object.entries(patch)) {
    const param = (params as Readonly<Record<string, Param<unknown>>>)[name]
    const text = param?.write(value)
    if (text === undefined) next.delete(name)
    else next.set(name, text)
  }
  const text = next.toString()
  return text === "" ? "" : `?${text}`
}
