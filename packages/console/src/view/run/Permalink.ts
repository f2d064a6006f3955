/** An address with some parameters replaced, or removed where they are undefined; the others stay. */
export const linkTo = (address: string, patch: Readonly<Record<string, string | number | undefined>>): string => {
  const url = new URL(address)
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, String(value))
  }
  return url.href
}
