const UNITS: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }

/** The bytes of `512MiB`; undefined for another text, and for none. */
export const byteSize = (text: string): number | undefined => {
  const [, count = "", unit = ""] = /^(\d{1,6})([KMGT]iB)$/.exec(text) ?? []
  const bytes = Number(count) * (UNITS[unit] ?? 0)
  return bytes > 0 ? bytes : undefined
}
